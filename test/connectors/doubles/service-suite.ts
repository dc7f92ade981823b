import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Problem } from '../../../src/lib/problem.ts';
import {
  batchText,
  type Connector,
  type ConnectorLog,
  type Extraction,
  type KeptColumn,
  type PreviewLimits,
  type Range,
  type RunWarning,
} from '../../../src/sdk/index.ts';
import { contextOf } from '../harness.ts';
import { TestLogin } from './logins.ts';
import { type Asked, type Fault, type Reply, type Routes, Vendor } from './vendor.ts';

/** A service's stream, its vendor as data, and the expected result. */
export interface ServiceCase {
  readonly service: Connector;
  /** Options of the source; `api_url` is added. */
  readonly source?: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly routes: Routes;
  /** Fields of the token response. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly watermark?: string;
  readonly keptColumns?: readonly KeptColumn[];
  readonly timezone?: string;
  readonly range?: Range;
  readonly preview?: PreviewLimits;
  readonly faults?: readonly Fault[];
  readonly guard?: (asked: Asked) => Reply | undefined;
  readonly signal?: AbortSignal;
  readonly log?: ConnectorLog;
}

export interface Outcome {
  readonly columns: readonly string[];
  readonly rows: (string | null)[][];
  readonly watermark: string | undefined;
  readonly unchanged: boolean;
  readonly cursor: string | undefined;
  readonly covers: Extraction['covers'];
  readonly warnings: readonly RunWarning[];
  /** The requests, as {@link Vendor.lines}. */
  readonly asked: string[];
  readonly vendor: Vendor;
  readonly login: TestLogin;
}

/** One run of a stream against its double. When the test ends, the double and all files are removed. */
export async function runService(given: ServiceCase): Promise<Outcome> {
  const { vendor, login, context } = await setUp(given);
  const warnings: RunWarning[] = [];
  const extraction = await given.service.extract({ ...context, warn: (warning) => void warnings.push(warning) });
  const rows: (string | null)[][] = [];
  for await (const batch of extraction.batches) rows.push(...batchText(batch));
  return {
    columns: extraction.columns.map(({ name, type }) => `${name} ${type}`),
    rows,
    watermark: extraction.watermark?.(),
    unchanged: extraction.unchanged?.() ?? false,
    cursor: extraction.cursor,
    covers: extraction.covers,
    warnings,
    asked: vendor.lines,
    vendor,
    login,
  };
}

/** A run whose rows are read batch by batch, or abandoned. */
export async function beginService(given: ServiceCase) {
  const { context } = await setUp(given);
  const extraction = await given.service.extract(context);
  const batches = extraction.batches[Symbol.asyncIterator]();
  return { extraction, next: () => batches.next(), leave: () => batches.return?.() };
}

/** The problem that a run ends with. */
export function failService(given: ServiceCase): Promise<Problem> {
  return runService(given).then(
    ({ rows }) => {
      throw new Error(`nothing was refused: ${JSON.stringify(rows)}`);
    },
    (error: unknown) => error as Problem,
  );
}

/** The result of `check`. */
export async function checkServiceCase(given: ServiceCase): Promise<string> {
  const { context } = await setUp(given);
  return given.service.check(context);
}

async function setUp(given: ServiceCase) {
  const { service, source = {}, query, routes, kept, watermark, timezone, range, faults, guard, signal, log } = given;
  const { preview, keptColumns } = given;
  const vendor = await new Vendor({ routes, ...(faults && { faults }), ...(guard && { guard }) }).start();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-service-'));
  onTestFinished(async () => {
    await vendor.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const login = new TestLogin(kept);
  const run = { source: { ...source, api_url: vendor.url }, query, folder, ...(signal && { signal }) };
  const context = {
    ...contextOf(service, run),
    login,
    ...(log && { log }),
    ...(watermark === undefined ? {} : { watermark }),
    ...(keptColumns === undefined ? {} : { keptColumns }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(range === undefined ? {} : { range }),
    ...(preview === undefined ? {} : { preview }),
  };
  return { vendor, login, context };
}

interface Expected {
  readonly rows: (string | null)[][];
  /** Names and types: `id text`. */
  readonly columns?: readonly string[];
  readonly asked?: readonly string[];
}

/** A row in the fault table: what the vendor does once, and the expected result. */
export interface FaultCase {
  readonly name: string;
  readonly faults: readonly Fault[];
  /** The problem's code and family; undefined if the rows stay the same. */
  readonly problem?: Readonly<Record<string, unknown>>;
}

/**
 * A stream's standard tests: it returns all rows, retries if the vendor is busy or rate-limits or truncates a response,
 * and can be stopped. `faults` adds the service's own faults as data.
 */
export function describeStream(
  title: string,
  given: ServiceCase,
  expected: Expected,
  faults: readonly FaultCase[] = [],
): void {
  describe(`reading ${title}`, () => {
    it('returns all rows, with the requests that the vendor expects', async () => {
      const outcome = await runService(given);
      expect(outcome.rows).toEqual(expected.rows);
      if (expected.columns !== undefined) expect(outcome.columns).toEqual(expected.columns);
      if (expected.asked !== undefined) expect(outcome.asked).toEqual(expected.asked);
    });

    it.each([
      { name: 'a busy vendor', faults: [{ at: 1, reply: { status: 503, headers: { 'retry-after': '0' } } }] },
      { name: 'too many requests', faults: [{ at: 1, reply: { status: 429, headers: { 'retry-after': '0' } } }] },
      { name: 'a truncated response', faults: [{ at: 1, reply: 'cut' as const }] },
      ...faults,
    ] satisfies FaultCase[])('retries or reports $name', async (fault: FaultCase) => {
      const troubled = { ...given, faults: fault.faults };
      if (fault.problem === undefined) expect((await runService(troubled)).rows).toEqual(expected.rows);
      else expect(await failService(troubled)).toMatchObject(fault.problem);
    });

    it('throws the reason if the run is stopped', async () => {
      const reason = new Error('stopped by the test');
      await expect(runService({ ...given, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });
  });
}

/**
 * A guard that accepts only `Bearer token-N`. After this many requests, it rejects `token-1`, as if that token had
 * expired.
 */
export function expiringAfter(
  requests: number,
  refusal: Reply = { status: 401, json: {} },
): (asked: Asked) => Reply | undefined {
  let taken = 0;
  return ({ headers }) => {
    const token = /^Bearer (token-\d+)$/.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return { status: 401, json: { error: 'no token' } };
    return token === 'token-1' && ++taken > requests ? refusal : undefined;
  };
}
