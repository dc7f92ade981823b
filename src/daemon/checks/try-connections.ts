import PQueue from 'p-queue';
import type { Config, Destination, Job, Source } from '../../config/config.ts';
import { DestinationClient } from '../../delivery/client.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import type { PreviewLimits } from '../../sdk/preview.ts';
import { composeRuntime, type Runtime } from '../compose.ts';
import { loginOf } from '../login-holds/account.ts';
import { checkSource } from './check-source.ts';
import { namesColumns, type PreflightOptions, type PreflightResult, preflight } from './preflight.ts';
import { sourcesOf } from './source-checks.ts';

const atATime = 4;

export interface ConnectionTest {
  readonly kind: 'source' | 'destination' | 'job' | 'payloads';
  readonly name: string;
  /** The result in one sentence; empty if there is a problem. */
  readonly message: string;
  readonly problem?: Problem;
  /** For a job: what its query returns, or only its warnings if there is a problem. */
  readonly found?: Omit<PreflightResult, 'problem'>;
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
  const given = { ...runtime, config, signal, isPerson: true, preview: { allowsAnyMethod: false } };
  const queue = new PQueue({ concurrency: atATime });
  return queue.addAll(
    jobs.map((job) => async () => {
      // The columns of all jobs would be too long a list.
      const { found: _, ...test } = await tryJob(job, given);
      return test;
    }),
  );
}

/**
 * Opens the queries of these jobs, even of disabled ones, and reads at most their first page. Doesn't contact
 * destinations. Each login is tried once: if it's refused, the other jobs that use it aren't tried.
 */
export async function tryQueries(
  config: Config,
  { jobs, preview, signal }: { jobs: readonly Job[]; preview: PreviewLimits; signal: AbortSignal },
): Promise<ConnectionTest[]> {
  const runtime = await composeRuntime({ config });
  try {
    const byLogin = Map.groupBy(jobs, loginKeyOf);
    const queue = new PQueue({ concurrency: atATime });
    const given = { ...runtime, config, signal, preview, isPerson: true };
    const tested = await queue.addAll([...byLogin.values()].map((group) => () => tryGroup(group, given)));
    return tested.flat();
  } finally {
    await runtime.close();
  }
}

/** Tries jobs that use the same login one by one, until the login is refused. */
async function tryGroup(jobs: readonly Job[], given: PreflightOptions): Promise<ConnectionTest[]> {
  const tests: ConnectionTest[] = [];
  for (const job of jobs) {
    const refused = tests.find(({ problem }) => problem?.family === 'login');
    tests.push(refused === undefined ? await tryJob(job, given) : untried(job, refused));
  }
  return tests;
}

function untried({ name }: Job, refused: ConnectionTest): ConnectionTest {
  const problem = new Problem({
    code: 'CHECK_LOGIN_REFUSED',
    family: 'login',
    message: `Not requested: a request of job ${refused.name} with the same login was refused`,
    where: { job: name },
    next: refused.problem?.next,
  });
  return { kind: 'job', name, message: '', problem };
}

function loginKeyOf({ name, extract }: Job): string {
  const login = extract === undefined ? undefined : loginOf(extract.source);
  return JSON.stringify(login === undefined ? name : [login.connector, login.place, login.account, login.secret]);
}

async function tryJob(job: Job, given: PreflightOptions): Promise<ConnectionTest> {
  const { problem, ...found } = await preflight(job, given);
  const named = { kind: 'job', name: job.name, message: found.message } as const;
  if (problem === undefined) return { ...named, found };
  return { ...named, problem, ...(found.warnings.length === 0 ? {} : { found }) };
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
