import pg from 'pg';
import { Problem } from '#sdk';
import type { SourceValues } from './options.ts';
import {
  type BeginForm,
  beginStrongest,
  exactSettingRefused,
  noTransaction,
  type OpenTransaction,
  settingRefused,
} from './transaction.ts';

/** The part of a session that begins a transaction. */
interface Runner {
  /** Runs one or several statements. Throws a Problem with the server's error as its cause. */
  readonly run: (sql: string) => Promise<unknown>;
}

interface SessionOptions {
  /** The settings that the source's options or its address ask for. */
  readonly session: SourceValues['session'];
  /** Whether to read texts as they're stored, because the server doesn't know their encoding. */
  readonly hasRawTexts?: boolean;
}

const forms: readonly [BeginForm, ...BeginForm[]] = [
  { sql: 'begin transaction isolation level repeatable read, read only', isSnapshot: true, isReadOnly: true },
  { sql: 'begin transaction read only', isSnapshot: false, isReadOnly: true },
  { sql: 'begin transaction isolation level repeatable read', isSnapshot: true, isReadOnly: false },
  { sql: 'begin transaction', isSnapshot: false, isReadOnly: false },
  { sql: undefined, isSnapshot: false, isReadOnly: false },
];

/** Some databases accept any begin, and then write all the same. PostgreSQL shows what it has begun. */
const proof = 'show transaction_read_only';

/** Whether the last of these results shows that the transaction is read-only. */
function isProven(results: unknown): boolean {
  const last = (Array.isArray(results) ? results.at(-1) : results) as { rows?: readonly object[] } | undefined;
  return Object.values(last?.rows?.[0] ?? {})[0] === 'on';
}

/** A setting, with the statements that set it; the first one that the server accepts counts. */
interface Setting {
  readonly name: string;
  readonly statements: readonly string[];
  /** Whether texts may have another meaning without it. */
  readonly decidesValues: boolean;
  /** Whether the source's options ask for it. Otherwise, a server may lack it. */
  readonly isRequired: boolean;
}

/** Settings that make texts exact and independent of the server's locale. */
const exactSettings: readonly (readonly [name: string, ...values: string[]])[] = [
  ['datestyle', "'ISO, YMD'"],
  ['timezone', "'UTC'"],
  ['intervalstyle', "'iso_8601'"],
  ['bytea_output', "'hex'"],
  // Redshift accepts only up to 2, with which float4 may lose its last digit on servers before PostgreSQL 12.
  ['extra_float_digits', '3', '2'],
  ['xmloption', "'content'"],
];

/** Without the others, a text has another form, which is either checked or isn't a date, time or number. */
const valueSettings = ['datestyle', 'timezone', 'extra_float_digits', 'client_encoding'];

/**
 * Begins a transaction with Sluice's settings and those of the source. Servers get everything in one message; only if
 * they don't understand it, one statement at a time. Nothing else is set, so that limits of the role or the server
 * stay in force.
 */
export async function beginPostgres(
  session: Runner,
  source: SourceValues,
  { session: values, hasRawTexts = false }: SessionOptions,
): Promise<OpenTransaction> {
  const encoding = ['client_encoding', hasRawTexts ? "'SQL_ASCII'" : "'UTF8'"];
  const settings = [...[...exactSettings, encoding].map(exactSetting), ...requiredSettings(source, values)];
  const [strongest] = forms;
  try {
    const all = [strongest.sql, ...settings.map(({ statements }) => statements[0]), proof];
    if (isProven(await session.run(all.join('; '))))
      return { ...strongest, unknownSettings: [], unsetValueSettings: [] };
  } catch (thrown) {
    const isTheirs =
      settings.some(({ isRequired }) => isRequired) && thrown instanceof Problem && thrown.family === 'job';
    if (!isTheirs && !isUnsupported(thrown)) throw thrown;
  }
  await session.run('rollback').catch(() => undefined);
  return await new Steps(session, source).begin(settings);
}

function exactSetting([name, ...values]: readonly string[]): Setting {
  const scopes = ['local ', ''];
  return {
    name: name!,
    statements: scopes.flatMap((scope) => values.map((value) => `set ${scope}${name} = ${value}`)),
    decidesValues: valueSettings.includes(name!),
    isRequired: false,
  };
}

function requiredSettings(
  { statement_timeout_seconds: timeout }: SourceValues,
  session: SourceValues['session'],
): Setting[] {
  const limits = timeout === undefined ? {} : { statement_timeout: Math.ceil(timeout * 1000) };
  return Object.entries({ ...session, ...limits }).map(([name, value]) => {
    const text = pg.escapeLiteral(String(value)).trim();
    // Unlike `set`, set_config splits lists such as search_path.
    const statements = [
      `select set_config('${name}', ${text}, true)`,
      `set local ${name} = ${text}`,
      `set ${name} = ${text}`,
    ];
    return { name, statements, decidesValues: false, isRequired: true };
  });
}

/** Begins a transaction one statement at a time. A refused setting may abort it, so that it's begun again. */
class Steps {
  readonly #session: Runner;
  readonly #source: SourceValues;
  #form: BeginForm | undefined;
  readonly #accepted: string[] = [];

  constructor(session: Runner, source: SourceValues) {
    this.#session = session;
    this.#source = source;
  }

  async begin(settings: readonly Setting[]): Promise<OpenTransaction> {
    const { transaction } = this.#source;
    this.#form = await beginStrongest(forms, transaction, { run: this.#session.run, isUnsupported });
    if (this.#form.isReadOnly && !(await this.#isReadOnly())) {
      if (transaction === 'read_only') throw noTransaction();
      this.#form = { ...this.#form, isReadOnly: false };
    }
    const unset: Setting[] = [];
    for (const setting of settings) {
      const refusal = await this.#set(setting.statements);
      if (refusal === undefined) continue;
      if (setting.isRequired) throw settingRefused(setting.name, refusal);
      // The server knows the setting, but refuses it for another reason, such as a missing permission.
      if (!isUnsupported(refusal)) throw exactSettingRefused(setting.name, refusal);
      unset.push(setting);
    }
    return {
      ...this.#form,
      unknownSettings: unset.map(({ name }) => name),
      unsetValueSettings: unset.filter(({ decidesValues }) => decidesValues).map(({ name }) => name),
    };
  }

  async #isReadOnly(): Promise<boolean> {
    try {
      return isProven(await this.#session.run(proof));
    } catch (thrown) {
      if (!(thrown instanceof Problem) || thrown.family === 'try_later') throw thrown;
      await this.#again();
      return false;
    }
  }

  /** Runs the first statement that the server accepts; otherwise, returns why it refused the first one. */
  async #set(statements: readonly string[]): Promise<unknown> {
    let refusal: unknown;
    // Outside a transaction, PostgreSQL accepts a local setting, but it has no effect.
    const isLasting = (sql: string) => /^set (?!local )/.test(sql);
    for (const sql of this.#form?.sql === undefined ? statements.filter(isLasting) : statements) {
      try {
        await this.#session.run(sql);
        this.#accepted.push(sql);
        return undefined;
      } catch (thrown) {
        if (!(thrown instanceof Problem) || thrown.family === 'try_later') throw thrown;
        refusal ??= thrown;
        await this.#again();
      }
    }
    return refusal;
  }

  async #again(): Promise<void> {
    const { sql } = this.#form!;
    if (sql === undefined) return;
    await this.#session.run('rollback').catch(() => undefined);
    for (const accepted of [sql, ...this.#accepted]) await this.#session.run(accepted);
  }
}

/**
 * SQLSTATEs by which a server says that it doesn't know a statement, a feature, a parameter, a value or a function. H2
 * reports syntax errors with 42000 and 42001.
 */
const unknown = ['42601', '0A000', '42704', '42000', '42001', '22023', '42883'];

/** Whether the server doesn't support the statement. Servers that imitate PostgreSQL may report no SQLSTATE. */
export function isUnsupported(thrown: unknown): boolean {
  if (!(thrown instanceof Problem) || !(thrown.cause instanceof pg.DatabaseError)) return false;
  const { code = '' } = thrown.cause;
  return code === '' || unknown.includes(code);
}
