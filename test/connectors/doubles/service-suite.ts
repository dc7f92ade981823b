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
  type Range,
  type RunWarning,
} from '../../../src/sdk/index.ts';
import { contextOf } from '../harness.ts';
import { TestLogin } from './logins.ts';
import { type Asked, type Fault, type Reply, type Routes, Vendor } from './vendor.ts';

/** A stream of a service, its vendor as data, and what has to come of it. */
export interface ServiceCase {
  readonly service: Connector;
  /** Options of the source; `api_url` is added. */
  readonly source?: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly routes: Routes;
  /** Fields that came with the token. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly watermark?: string;
  readonly timezone?: string;
  readonly range?: Range;
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

/** One run of a stream against its double. The double and all files are gone when the test ends. */
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

/** A run whose rows are taken batch by batch, or left. */
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

/** What `check` says. */
export async function checkServiceCase(given: ServiceCase): Promise<string> {
  const { context } = await setUp(given);
  return given.service.check(context);
}

async function setUp(given: ServiceCase) {
  const { service, source = {}, query, routes, kept, watermark, timezone, range, faults, guard, signal, log } = given;
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
    ...(timezone === undefined ? {} : { timezone }),
    ...(range === undefined ? {} : { range }),
  };
  return { vendor, login, context };
}

interface Expected {
  readonly rows: (string | null)[][];
  /** Names and types: `id text`. */
  readonly columns?: readonly string[];
  readonly asked?: readonly string[];
}

/** A row of the fault table: what the vendor does once, and what comes of it. */
export interface FaultCase {
  readonly name: string;
  readonly faults: readonly Fault[];
  /** The code and family of the problem; the same rows as ever when absent. */
  readonly problem?: Readonly<Record<string, unknown>>;
}

/**
 * The standard tests of a stream: its pages arrive whole, an expired token is renewed between pages, a busy vendor and a
 * cut answer are asked again, a page that comes twice never passes for two; and the service's own faults as data.
 */
export function describeStream(
  title: string,
  given: ServiceCase,
  expected: Expected,
  faults: readonly FaultCase[] = [],
): void {
  describe(title, () => {
    it('arrives whole, with the requests that the vendor wants', async () => {
      const outcome = await runService(given);
      expect(outcome.rows).toEqual(expected.rows);
      if (expected.columns !== undefined) expect(outcome.columns).toEqual(expected.columns);
      if (expected.asked !== undefined) expect(outcome.asked).toEqual(expected.asked);
    });

    it.each([
      { name: 'a vendor that is busy', faults: [{ at: 1, reply: { status: 503, headers: { 'retry-after': '0' } } }] },
      { name: 'too many requests', faults: [{ at: 1, reply: { status: 429, headers: { 'retry-after': '0' } } }] },
      { name: 'an answer that breaks off', faults: [{ at: 1, reply: 'cut' as const }] },
      ...faults,
    ] satisfies FaultCase[])('gets over, or reports: $name', async (fault: FaultCase) => {
      const troubled = { ...given, faults: fault.faults };
      if (fault.problem === undefined) expect((await runService(troubled)).rows).toEqual(expected.rows);
      else expect(await failService(troubled)).toMatchObject(fault.problem);
    });

    it('tells a stopped run by its reason', async () => {
      const reason = new Error('stopped by the test');
      await expect(runService({ ...given, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });
  });
}

/** A guard that takes `Bearer token-N` alone, and refuses `token-1` after so many requests, as an expired token is. */
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
