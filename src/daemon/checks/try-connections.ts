import PQueue from 'p-queue';
import type { Config, Destination, Source } from '../../config/config.ts';
import { DestinationClient } from '../../delivery/client.ts';
import { type Problem, toProblem } from '../../lib/problem.ts';
import { composeRuntime, type Runtime } from '../compose.ts';
import { checkSource } from './check-source.ts';
import { sourcesOf } from './source-checks.ts';
import { namesColumns, tryColumns } from './try-columns.ts';

const atATime = 4;

export interface ConnectionTest {
  readonly kind: 'source' | 'destination' | 'job' | 'payloads';
  readonly name: string;
  /** The result in one sentence; empty if there is a problem. */
  readonly message: string;
  readonly problem?: Problem;
}

/**
 * Makes the smallest real request to every source and destination. Also checks that queries return the columns that
 * jobs refer to, if that's possible without reading rows. Sends one request per destination, which counts toward the
 * quota and is rate-limited like any other. The request's endpoint requires the same permissions as an upload, so a key
 * that lacks them is detected.
 */
export async function tryConnections(config: Config, signal: AbortSignal): Promise<ConnectionTest[]> {
  const runtime = await composeRuntime({ config });
  try {
    const sources = [...config.sources.values()].map((source) =>
      trySource(source, { config, runtime, signal, isPerson: true }),
    );
    const destinations = [...config.destinations.values()].map((one) => tryDestination(one, { runtime, signal }));
    const looks = await Promise.all([...sources, ...destinations, ...tryStorage(runtime)]);
    return [...looks, ...(await tryJobs(looks, { config, runtime, signal }))];
  } finally {
    await runtime.close();
  }
}

/** Tests the storage of payloads, unless they're in the state's folder or database, which the runtime has opened. */
function tryStorage({ store }: Runtime): Promise<ConnectionTest>[] {
  const { backend } = store.blobs;
  if (backend === undefined || backend.storage.isInDatabase) return [];
  return [
    look('payloads', backend.storage.label, async () => {
      const { testStorage } = await import('../../state/blobs/test-storage.ts');
      return `written, read and deleted in ${Math.round(await testStorage(backend))} ms`;
    }),
  ];
}

/** Checks the columns that jobs refer to, if the jobs' sources respond. */
async function tryJobs(
  looks: readonly ConnectionTest[],
  { config, runtime, signal }: { config: Config; runtime: Runtime; signal: AbortSignal },
): Promise<ConnectionTest[]> {
  const silent = new Set(looks.flatMap(({ kind, name, problem }) => (kind === 'source' && problem ? [name] : [])));
  const jobs = [...config.jobs.values()].filter((job) => namesColumns(job) && !silent.has(job.extract!.source.name));
  const { logins, loginGate, clock, log } = runtime;
  const queue = new PQueue({ concurrency: atATime });
  return queue.addAll(
    jobs.map((job) => async () => {
      const answer = await tryColumns(job, { config, logins, loginGate, isPerson: true, clock, log, signal });
      return { kind: 'job' as const, name: job.name, message: '', ...answer };
    }),
  );
}

/** Tests only the sources of enabled jobs. Doesn't contact destinations, so it doesn't use the daily allowance. */
export async function trySources(config: Config, runtime: Runtime, signal: AbortSignal): Promise<ConnectionTest[]> {
  const queue = new PQueue({ concurrency: atATime });
  const sources = [...sourcesOf(config.jobs.values()).keys()];
  return queue.addAll(sources.map((source) => () => trySource(source, { config, runtime, signal, isPerson: false })));
}

async function trySource(
  source: Source,
  { runtime, ...given }: { config: Config; runtime: Runtime; signal: AbortSignal; isPerson: boolean },
): Promise<ConnectionTest> {
  const { logins, loginGate, clock, log } = runtime;
  const answer = await checkSource(source, { ...given, logins, loginGate, clock, log });
  return { kind: 'source', name: source.name, ...('message' in answer ? answer : { message: '', ...answer }) };
}

async function tryDestination(
  destination: Destination,
  { runtime, signal }: { runtime: Runtime; signal: AbortSignal },
): Promise<ConnectionTest> {
  const { gateway } = runtime;
  const client = new DestinationClient({ gateway, gate: gateway.of(destination), priority: 'person', signal });
  const query = { limit: 1, client_id: destination.clientId };
  return look('destination', destination.name, async () => {
    const { meta } = await client.call('GET', '/datasources', { query, attempts: 2 });
    const { total = 'some' } = meta;
    return `credentials accepted, ${String(total)} data ${total === 1 ? 'source' : 'sources'} at ${destination.url}`;
  });
}

async function look(kind: ConnectionTest['kind'], name: string, call: () => Promise<string>): Promise<ConnectionTest> {
  try {
    return { kind, name, message: await call() };
  } catch (thrown) {
    const problem = toProblem(thrown, { code: 'CHECK_THREW', family: 'bug' });
    const where = kind === 'payloads' ? {} : { [kind]: name };
    return { kind, name, message: '', problem: problem.at(where) };
  }
}
