import { fail } from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { redact, registerSecret } from '../../lib/redact.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { batchText } from '../batch.ts';
import { checkBatch, checkColumns } from '../batch-contract.ts';
import type { Column } from '../column.ts';
import type { Connector, ExtractContext } from '../connector.ts';
import type { Extraction } from '../extraction.ts';
import { type OptionSet, withDefaults } from '../option.ts';
import type { OptionChanges, Options, TestSource } from './world.ts';

/** A whole extract as tests compare it: each cell is its canonical string. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: (string | null)[][];
  readonly watermark: string | undefined;
}

interface How {
  readonly signal?: AbortSignal;
  readonly watermark?: string;
  readonly comparedKey?: readonly string[];
  readonly login?: TestSource['login'];
}

/**
 * Test bench for one connector with one test source. Creates the contexts that the runner would create, and records all
 * output.
 */
export class Bench {
  readonly connector: Connector;
  /** Everything that a user could see: log lines, messages, problems, watermarks. */
  readonly output: string[] = [];
  readonly place: TestSource;

  constructor(connector: Connector, place: TestSource) {
    this.connector = connector;
    this.place = place;
    for (const secret of place.secrets ?? [])
      if (secret.length < 4) throw new Error(`a secret with ${secret.length} characters is too short to search for`);
  }

  /** The working options, with changes applied. */
  given({ source, query }: OptionChanges = {}): { source: Options; query: Options } {
    return { source: merged(this.place.source, source), query: merged(this.place.query, query) };
  }

  /** Runs `act` in the context of a run with a temporary scratch folder. */
  async within<T>(
    reading: OptionChanges | undefined,
    how: How,
    act: (context: ExtractContext<OptionSet, OptionSet>) => Promise<T>,
  ): Promise<T> {
    const scratch = await makeTempFolder('kit');
    try {
      return await act(this.#context(reading, how, scratch));
    } catch (thrown) {
      this.#hear(thrown);
      throw thrown;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  #context(reading: OptionChanges | undefined, how: How, scratch: string): ExtractContext<OptionSet, OptionSet> {
    const { connector, place } = this;
    const { source, query } = this.given(reading);
    registerSecrets(connector.source, source);
    registerSecrets(connector.query, query);
    const login = how.login ?? place.login;
    const write = (message: string, facts?: object) => this.output.push(`${message} ${JSON.stringify(facts ?? {})}`);
    return {
      source: withDefaults(connector.source, source),
      query: withDefaults(connector.query, query),
      folder: place.folder ?? scratch,
      scratch,
      signal: how.signal ?? new AbortController().signal,
      log: { debug: write, info: write, warn: write },
      alive: () => undefined,
      warn: (warning) => write(warning.message, warning),
      login,
      watermark: how.watermark,
      comparedKey: how.comparedKey,
    };
  }

  #hear(thrown: unknown): void {
    for (let one = thrown; one instanceof Error; one = one.cause) {
      this.output.push(`${one.message}\n${one.stack}\n${JSON.stringify(one)}`);
    }
  }

  check(reading?: OptionChanges, how: How = {}): Promise<string> {
    return this.within(reading, how, async (context) => {
      const message = await this.connector.check(context);
      this.output.push(message);
      return message;
    });
  }

  /** All rows of one extract. Checks each batch against the contract. */
  read(reading?: OptionChanges, how: How = {}): Promise<Table> {
    return this.within(reading, how, async (context) => {
      const extraction = await this.connector.extract(context);
      const { columns } = extraction;
      checkColumns(columns);
      const rows: (string | null)[][] = [];
      for await (const batch of extraction.batches) {
        checkBatch(batch, columns);
        rows.push(...batchText(batch));
      }
      const watermark = extraction.watermark?.();
      if (watermark !== undefined) this.output.push(watermark);
      if (extraction.unchanged?.()) {
        if (how.watermark === undefined) fail('the connector reports no changes, but had no watermark to compare with');
        if (rows.length > 0) fail('the connector reports no changes but returns rows, which would be dropped');
      }
      return { columns, rows, watermark };
    });
  }

  /** An extract whose batches the caller reads itself. */
  extracting<T>(reading: OptionChanges | undefined, how: How, act: (extraction: Extraction) => Promise<T>): Promise<T> {
    return this.within(reading, how, async (context) => act(await this.connector.extract(context)));
  }

  /** The recorded output after redaction. */
  leaving(): string[] {
    return this.output.map(redact);
  }
}

function merged(good: Options, other: Options = {}): Options {
  return Object.fromEntries(Object.entries({ ...good, ...other }).filter(([, value]) => value !== undefined));
}

/** Names of options whose values are probably secret. */
const secretName = /pass|secret|token|credential|key|authorization|cookie/i;

/**
 * Registers the same secrets as loading a config does: secret options and, within maps, values that are secret
 * according to their schema or name.
 */
function registerSecrets(options: OptionSet, values: Options): void {
  for (const [name, value] of Object.entries(values)) {
    const { secret = false, schema = {} } = options[name] ?? {};
    if (typeof value !== 'object' || value === null) {
      if (secret) registerSecret(String(value));
      continue;
    }
    const members = (schema.properties ?? {}) as Record<string, { writeOnly?: boolean }>;
    for (const [member, inside] of Object.entries(value)) {
      const isSecret = members[member]?.writeOnly === true || (secret && secretName.test(member));
      if (isSecret && typeof inside === 'string') registerSecret(inside);
    }
  }
}
