import {
  type Batch,
  batchText,
  type Extraction,
  Problem,
  type Range,
  type RunWarning,
  type TokenSource,
  withDefaults,
} from '#sdk';
import { addressOf } from '../../connectors/db/address.ts';
import type { ConnectOptions } from '../../connectors/db/driver.ts';
import db from '../../connectors/db/index.ts';

const log = { debug() {} };

export type Options = Readonly<Record<string, unknown>>;

interface Setting {
  readonly signal?: AbortSignal;
  readonly folder?: string;
  /** The watermark of the previous run. */
  readonly watermark?: string | undefined;
  readonly range?: Range;
  /** The key of a job that compares keys. */
  readonly comparedKey?: readonly string[];
  readonly timezone?: string;
  /** The source's OAuth login. */
  readonly login?: TokenSource;
  /** Receives every warning. */
  readonly warn?: () => void;
  /** Receives every message of the log that isn't a warning. */
  readonly info?: (message: string, facts?: object) => void;
  /** Receives the run's warnings. */
  readonly onWarning?: (warning: RunWarning) => void;
}

function contextOf(source: Options, setting: Setting) {
  const { signal = new AbortController().signal, folder = '/nowhere', warn = () => {}, info = () => {} } = setting;
  const login = setting.login === undefined ? {} : { login: setting.login };
  return { source: withDefaults(db.source, source), folder, signal, log: { ...log, warn, info }, ...login };
}

/** What a driver gets, for tests of a driver's session. */
export function connectOptions(source: Options): ConnectOptions {
  const context = contextOf(source, {});
  return { ...context, address: addressOf(context.source) };
}

/** Starts an extract as the pipeline does. */
export function extract(source: Options, query: Options | string, setting: Setting = {}): Promise<Extraction> {
  const given = typeof query === 'string' ? { sql: query } : query;
  const { watermark, range, timezone, comparedKey, onWarning = () => {} } = setting;
  return db.extract({
    ...contextOf(source, setting),
    query: withDefaults(db.query, given),
    scratch: '/nowhere',
    warn: onWarning,
    ...(watermark === undefined ? {} : { watermark }),
    ...(range === undefined ? {} : { range }),
    ...(comparedKey === undefined ? {} : { comparedKey }),
    ...(timezone === undefined ? {} : { timezone }),
  });
}

export function check(source: Options, setting: Setting = {}): Promise<string> {
  return db.check(contextOf(source, setting));
}

/** The complete result: each column as `name type`, and the rows as canonical text. */
export async function read(source: Options, query: Options | string, setting: Setting = {}) {
  const { columns, batches } = await extract(source, query, setting);
  const rows: (string | null)[][] = [];
  for await (const batch of batches) rows.push(...batchText(batch));
  return { columns: columns.map(({ name, type }) => `${name} ${type}`), rows };
}

/** The new rows since the watermark, the next watermark, and whether there were none. */
export async function readOn(source: Options, query: Options, watermark?: string, setting: Setting = {}) {
  const extraction = await extract(source, query, { ...setting, watermark });
  const rows: (string | null)[][] = [];
  for await (const batch of extraction.batches) rows.push(...batchText(batch));
  return {
    rows,
    watermark: extraction.watermark!(),
    unchanged: extraction.unchanged!(),
    again: extraction.comesAgain!(),
  };
}

/** A range's rows, and the range that they cover. */
export async function readRange(source: Options, query: Options, setting: Setting) {
  const extraction = await extract(source, query, setting);
  const rows: (string | null)[][] = [];
  for await (const batch of extraction.batches) rows.push(...batchText(batch));
  const { covers, cursor, watermark } = extraction;
  return { rows, covers, cursor, moves: watermark !== undefined };
}

/** Returns the problem that a call fails with. Fails the test if the call succeeds or throws anything else. */
export async function problemOf(act: Promise<unknown>): Promise<Problem> {
  const thrown = await act.then(
    (value) => new Error(`expected a problem, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (thrown instanceof Problem) return thrown;
  throw thrown;
}

/** Reads everything and keeps only the count. */
export async function countRows(batches: AsyncIterable<Batch>): Promise<number> {
  let rows = 0;
  for await (const batch of batches) rows += batch.length;
  return rows;
}

/** The first batch of an extraction, which stays open. */
export async function firstOf({ batches }: Extraction): Promise<AsyncIterator<Batch>> {
  const iterator = batches[Symbol.asyncIterator]();
  const { done } = await iterator.next();
  if (done) throw new Error('there was no first batch');
  return iterator;
}
