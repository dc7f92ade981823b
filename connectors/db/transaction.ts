import { Problem, type RunWarning } from '#sdk';

/** The kind of transaction in which a source is read. */
export interface TransactionKind {
  /** Whether all rows come from one snapshot. */
  readonly isSnapshot: boolean;
  /** Whether the server rejects writes. */
  readonly isReadOnly: boolean;
}

/** The transaction that a server accepted, and the settings that it doesn't know. */
export interface OpenTransaction extends TransactionKind {
  readonly unknownSettings: readonly string[];
  /** Those of the unknown settings without which values may have another meaning. */
  readonly unsetValueSettings: readonly string[];
}

/** One way to begin a transaction; `sql` is undefined if there's no transaction at all. */
export interface BeginForm extends TransactionKind {
  readonly sql: string | undefined;
}

/** The value of the `transaction` option. */
export type TransactionOption = 'read_only' | 'none';

/**
 * Begins the strongest transaction that the server accepts. Goes on to the next form only if the server doesn't know
 * the previous one, and never to a form that isn't read-only unless the option says so.
 *
 * @throws Problem `DB_NO_TRANSACTION` if no form is left
 */
export async function beginStrongest(
  forms: readonly BeginForm[],
  option: TransactionOption,
  { run, isUnsupported }: { run: (sql: string) => Promise<unknown>; isUnsupported: (thrown: unknown) => boolean },
): Promise<BeginForm> {
  let cause: unknown;
  for (const form of forms) {
    if (!form.isReadOnly && option === 'read_only') break;
    if (form.sql === undefined) return form;
    try {
      await run(form.sql);
      return form;
    } catch (thrown) {
      if (!isUnsupported(thrown)) throw thrown;
      cause = thrown;
    }
  }
  throw noTransaction(cause);
}

/** The server has no read-only transactions, or doesn't show that a transaction is read-only. */
export function noTransaction(cause?: unknown): Problem {
  return new Problem({
    code: 'DB_NO_TRANSACTION',
    family: 'config',
    message: 'the server does not support read-only transactions',
    seen: cause instanceof Problem ? cause.message : 'show transaction_read_only does not return on',
    allowed: 'transaction: read_only, transaction: none',
    next: 'set `transaction: none` on the source, and use a database user that may only read',
    cause,
  });
}

/** What a transaction doesn't guarantee; empty if it guarantees everything. */
function lacksOf({ isSnapshot, isReadOnly, unsetValueSettings: unset }: OpenTransaction): string[] {
  return [
    ...(isSnapshot ? [] : ['the rows may not be from one moment, because the server does not support repeatable read']),
    ...(isReadOnly ? [] : ['the server does not reject writes (transaction: none)']),
    ...(unset.length === 0
      ? []
      : [`dates, times and numbers are as the server formats them, because it does not know ${unset.join(', ')}`]),
  ];
}

/** The end of the text that a successful check returns. */
export function transactionText(transaction: OpenTransaction): string {
  return lacksOf(transaction)
    .map((lack) => `; ${lack}`)
    .join('');
}

interface TransactionContext {
  readonly place: string;
  readonly warn?: ((warning: RunWarning) => void) | undefined;
  readonly needsSnapshot?: boolean;
}

/**
 * Warns of what the run's transaction doesn't guarantee.
 *
 * @throws Problem `DB_NO_SNAPSHOT` if the run needs a snapshot and the server has none
 */
export function warnOfTransaction(
  transaction: OpenTransaction,
  { place, warn, needsSnapshot = false }: TransactionContext,
): void {
  if (needsSnapshot && !transaction.isSnapshot) throw noSnapshot(place);
  const lacks = lacksOf(transaction);
  if (lacks.length === 0) return;
  warn?.({ code: 'DB_WEAK_TRANSACTION', message: `the database at ${place}: ${lacks.join('; ')}` });
}

/** A list of keys that lacks some of them would delete rows that exist. */
export function noSnapshot(place: string): Problem {
  return new Problem({
    code: 'DB_NO_SNAPSHOT',
    family: 'config',
    message: `the database at ${place} does not support repeatable read, so a list of its keys may not be complete`,
    next: 'remove deletes: compare; mark deleted rows in a column instead (write.deleted)',
  });
}

/** The server refused a setting without which values could have another meaning. */
export function exactSettingRefused(name: string, cause: unknown): Problem {
  return new Problem({
    code: 'DB_SESSION_SETTING',
    family: 'config',
    message: `the server refuses the setting ${name}, without which values may not be exact: ${messageOf(cause)}`,
    next: 'allow the user to change this setting of its session',
    cause,
  });
}

/** The server refused a setting that the source's options ask for. */
export function settingRefused(name: string, cause: unknown): Problem {
  return new Problem({
    code: 'DB_SESSION_SETTING',
    family: 'config',
    message: `the server refuses the setting ${name}: ${messageOf(cause)}`,
    next: "correct or remove it in the source's options",
    cause,
  });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : '';
}
