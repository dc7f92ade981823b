import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import type { Problem } from '../../../src/lib/problem.ts';
import { forgetSecrets } from '../../../src/lib/redact.ts';
import {
  type AttemptFacts,
  batchText,
  type ConnectorLog,
  type PreviewLimits,
  type Range,
  type RowsOf,
  type RunWarning,
} from '../../../src/sdk/index.ts';
import type { TestLogin } from '../doubles/logins.ts';
import { contextOf } from '../harness.ts';
import { TestServer } from '../http-server.ts';

type Options = Record<string, unknown>;

/** What the runner passes in addition to the options. */
interface Run {
  readonly watermark?: string;
  readonly range?: Range;
  readonly timezone?: string;
  readonly logicalAt?: number;
  readonly login?: TestLogin;
  readonly preview?: PreviewLimits;
  readonly isDryRun?: boolean;
  readonly log?: ConnectorLog;
  readonly rowsOf?: RowsOf;
  readonly attemptFacts?: AttemptFacts;
}

/** A server and an empty folder for each test in the calling file, and the connector between them. */
export function restBench() {
  const server = new TestServer();
  const folder = join(tmpdir(), `sluice-rest-${randomUUID()}`);
  beforeEach(async () => {
    await server.start();
    await mkdir(folder);
  });
  afterEach(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
    forgetSecrets();
  });

  async function extract(query: Options, source: Options = {}, run: Run = {}) {
    const warnings: RunWarning[] = [];
    const warn = (warning: RunWarning) => void warnings.push(warning);
    const scratch = await mkdtemp(join(folder, 'scratch-'));
    const options = { source: { url: server.url, ...source }, query, folder, scratch };
    const context = { ...contextOf(rest, options), warn, ...run };
    const { columns, batches, watermark, unchanged, comesAgain, covers, firstPage, isSample } =
      await rest.extract(context);
    const rows: (string | null)[][] = [];
    for await (const batch of batches) rows.push(...batchText(batch));
    const ended = { watermark: watermark?.(), unchanged: unchanged?.() ?? false, comesAgain: comesAgain?.() };
    return { columns, rows, ...ended, covers, warnings, scratch, firstPage, isSample };
  }

  const failure = (query: Options, source: Options = {}, run: Run = {}): Promise<Problem> =>
    extract(query, source, run).then(
      () => {
        throw new Error('nothing was refused');
      },
      (error: Problem) => error,
    );

  return {
    server,
    folder,
    extract,
    failure,
    /** The requested URLs. */
    asked: () => server.requests.map(({ url }) => url),
    /** The same requests, each preceded by its method and followed by its body. */
    askedInFull: () =>
      server.requests.map(({ method, url, body }) => [method, url, body].filter((one) => one !== '').join(' ')),
  };
}

/** Names of the options that the connector rejects before it sends anything. */
export function faults(query: Options, source: Options = { url: 'https://h/' }): string[] {
  const context = contextOf(rest, { source, query, folder: '/' });
  return (rest.validate?.({ source: context.source, query: context.query }) ?? []).map(({ option }) => option);
}

/** Records with IDs from `from` (inclusive) to `to` (exclusive), and the resulting rows. */
export const ids = (from: number, to: number): { id: number }[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i }));
export const numbers = (from: number, to: number): string[][] => ids(from, to).map(({ id }) => [String(id)]);
