import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { pullDatasource } from '../../src/cli/pull.ts';
import { startService } from '../../src/service/service.ts';
import { type Home, makeHome, writeConfig } from './home.ts';
import { type Ended, forTest, makeFolder, type Program, type Scope, start, until } from './process.ts';

export { type Ended, forSuite, makeFolder, type Program, type Running, until } from './process.ts';

export const adminKey = 'ad'.repeat(20);

/** One line of the service's request log. */
export interface Logged {
  /** Monotonic milliseconds. */
  readonly arrived: number;
  readonly method: string;
  readonly path: string;
  readonly from: string;
  /** Null if the client disconnected first. */
  readonly status: number | null;
}

export type Format = 'csv' | 'json' | 'xml';

export interface World {
  readonly folder: string;
  /** Base URL of the embedded service. */
  readonly url: string;
  /** IDs of push-only data sources, created without the daemon, by format. */
  readonly instances: Readonly<Record<Format, string>>;
  /** Creates another one. */
  instance(format?: Format): Promise<string>;
  /**
   * The bytes that an instance shows; null if it never had any. This is a request from the daemon's own account. A test
   * that repeats it in a loop needs `--no-limits` and a high `requests_per_day`; otherwise, the daemon may be
   * rate-limited or find the day's requests used up.
   */
  data(instance: string): Promise<string | null>;
  /** All finished requests so far. */
  requests(): Promise<Logged[]>;
  /** The uploads among these requests, to one instance or to all. Only the daemon uploads. */
  uploads(instance?: string): Promise<Logged[]>;
  /** Writes the config and returns its path. */
  config(config: object): Promise<string>;
  /** A user of Sluice, with a folder for sources, a config and a state. */
  home(scope?: Scope): Promise<Home>;
  /** One call to the service as its admin. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Envelope }>;
  /** Stops the service as an operator would and keeps its data folder. Rejects if the service doesn't stop cleanly. */
  stop(): Promise<void>;
}

interface Envelope {
  readonly meta: { readonly status: number; readonly instance_location?: string; readonly location?: string };
  readonly data?: Record<string, unknown>;
}

export interface WorldOptions {
  readonly company?: object;
  readonly serve?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly preload?: readonly string[];
  readonly scope?: Scope;
  /** The Sluice that runs the service, if not the sources of this checkout. */
  readonly program?: Program;
  /** A folder that keeps the service's data across restarts. By default, no data is kept. */
  readonly data?: string;
  /** Data sources that exist already because a service is restarted. If set, none are created. */
  readonly instances?: World['instances'];
}

/** A service with one company, its admin, and one push-only source per format. */
export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const { scope = forTest } = options;
  const folder = await makeFolder(scope);
  const fixtures = join(folder, 'fixtures.json');
  const user = {
    email: 'admin@test.example',
    first_name: 'Ada',
    last_name: 'Min',
    role: 'Admin',
    api_keys: [adminKey],
  };
  const company = { id: 'acme', name: 'Acme', plan: 'enterprise', users: [user], ...options.company };
  await writeFile(fixtures, JSON.stringify({ companies: [company] }));
  const log = join(folder, 'requests.jsonl');
  const { url, stop } = await (needsProcess(options) ? startProcess : startHere)({ ...options, folder, fixtures, log });
  const call = callTo(url);
  const instance = (format: Format = 'csv') => push(call, format);
  const instances = options.instances ?? {
    csv: await instance('csv'),
    json: await instance('json'),
    xml: await instance('xml'),
  };
  const requests = () => settledLog(url, log);
  // Wait for these requests; otherwise, a test would count some of them among its own.
  const made = options.instances === undefined ? 3 : 0;
  await until('the request log to have the first requests', async () => (await requests()).length >= made);
  return {
    folder,
    url,
    instances,
    instance,
    call,
    data: (instance) => dataOf(url, instance),
    requests,
    uploads: async (instance) => {
      const wanted = `/datasource-instances/${instance ?? ''}`;
      return (await requests()).filter(
        ({ method, path }) => method === 'PUT' && path.includes(wanted) && path.endsWith('/data'),
      );
    },
    config: (config) => writeConfig(folder, config),
    home: (own = scope) => makeHome(own),
    stop,
  };
}

interface Service {
  readonly url: string;
  stop(): Promise<void>;
}

interface ServiceOptions extends WorldOptions {
  readonly folder: string;
  readonly fixtures: string;
  /** The file of the request log. */
  readonly log: string;
}

/** Whether the service must run in its own process because of its data, environment or flags. */
function needsProcess({ data, env, preload, program, serve = [] }: WorldOptions): boolean {
  return [data, env, preload, program].some((given) => given !== undefined) || serve.some((flag) => flag !== noLimits);
}

const noLimits = '--no-limits';

/** Starts the service in this process, which takes a tenth of the time that a new process takes. */
async function startHere({ scope = forTest, serve = [], fixtures, log }: ServiceOptions): Promise<Service> {
  const limits = !serve.includes(noLimits);
  const options = { data: 'memory', pull: pullDatasource, fixtures, requestLogFile: log, limits } as const;
  const { url, close } = await startService(options);
  scope(close);
  return { url, stop: close };
}

async function startProcess(options: ServiceOptions): Promise<Service> {
  const { scope = forTest, env, preload, serve = [], data, program, folder, fixtures, log } = options;
  const ready = join(folder, 'ready.json');
  const place = data === undefined ? ['--memory'] : ['--data', data];
  const flags = [...place, '--port', '0', '--fixtures', fixtures, '--ready-file', ready, '--request-log', log];
  const { child, ended } = start(['serve', ...flags, ...serve], {
    scope,
    serves: true,
    ...(env === undefined ? {} : { env }),
    ...(preload === undefined ? {} : { preload }),
    ...(program === undefined ? {} : { program }),
  });
  await Promise.race([until('the service to listen', () => existsSync(ready)), ended.then(failedToStart)]);
  const { url } = JSON.parse(await readFile(ready, 'utf8')) as { url: string };
  const stop = async () => {
    child.kill('SIGTERM');
    const { code, signal, stderr } = await ended;
    if (code !== 0) throw new Error(`the service ended with ${code ?? signal}: ${stderr}`);
  };
  return { url, stop };
}

function failedToStart(ended: Ended): never {
  throw new Error(`the service ended with ${ended.code}: ${ended.stdout}${ended.stderr}`);
}

type Call = World['call'];

function callTo(url: string): Call {
  return async (method, path, body) => {
    const answer = await request(`${url}${path}`, {
      method,
      headers: { 'kf-api-key': adminKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Envelope };
  };
}

/** If the limits under test reject this request, retries it: it isn't what the test measures. */
async function dataOf(url: string, instance: string): Promise<string | null> {
  for (;;) {
    const { statusCode, body } = await request(`${url}/datasource-instances/${instance}/data?raw=true`, {
      headers: { 'kf-api-key': adminKey },
    });
    const text = await body.text();
    if (statusCode === 200) return text;
    if (statusCode === 404) return null;
    if (statusCode !== 429) throw new Error(`reading an instance: ${statusCode} ${text}`);
    await wait(250);
  }
}

/** Paths that no test requests. */
const markers = '/end-of-log-';
let marked = 0;

/**
 * The service logs a request when it's over, a moment after its response. Lines are in order, so the log is complete up
 * to the line of a request that is sent now. A service that has stopped has written everything.
 */
async function settledLog(url: string, file: string): Promise<Logged[]> {
  const marker = `${markers}${++marked}`;
  const isRunning = await request(new URL(marker, url)).then(
    ({ body }) => body.dump().then(() => true),
    () => false,
  );
  for (;;) {
    const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
    const logged = lines.map((line) => JSON.parse(line) as Logged);
    const isComplete = !isRunning || logged.some(({ path }) => path === marker);
    if (isComplete) return logged.filter(({ path }) => !path.startsWith(markers));
    await wait(5);
  }
}

/** Creates a push-only source. The limits under test must neither slow nor reject this. */
async function push(call: Call, format: string): Promise<string> {
  for (;;) {
    const { status, body } = await call('POST', '/datasources', {
      name: `Pushed ${format}`,
      format,
      connector: 'simple_rest',
      refresh_interval: 0,
      no_refresh: true,
      properties: { endpoint_url: 'http://127.0.0.1:9/', method: 'get', parameters: '[]' },
    });
    if (status === 201) return body.meta.instance_location!.split('/').at(-1)!;
    if (status !== 429) throw new Error(`making a source: ${JSON.stringify(body)}`);
    await wait(250);
  }
}

/** The maximum number of requests in any window of `windowMs`. */
export function busiestWindow(arrivals: readonly number[], windowMs = 1000): number {
  const ordered = [...arrivals].sort((a, b) => a - b);
  let most = 0;
  for (let first = 0, last = 0; last < ordered.length; last++) {
    while (ordered[last]! - ordered[first]! >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
