import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { onTestFinished } from 'vitest';

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const preloads = new URL('./preloads/', import.meta.url);

export const adminKey = 'ad'.repeat(20);

/** How a `sluice` process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Start {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Flags of Node itself: a heap limit. */
  readonly node?: readonly string[];
  /** Modules of preloads/ that are loaded first. */
  readonly preload?: readonly string[];
}

/** A running `sluice` process. `ended` resolves however it ends; the test's end kills it. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => string;
}

/** Starts the real command line in a process of its own. */
export function start(args: readonly string[], { env = {}, cwd, node = [], preload = [] }: Start = {}): Running {
  const imports = preload.flatMap((name) => ['--import', new URL(`${name}.ts`, preloads).href]);
  const child = spawn(process.execPath, [...node, ...imports, main, ...args], {
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const text = { stdout: '', stderr: '' };
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => (text.stdout += piece));
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (text.stderr += piece));
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...text }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, output: () => text.stdout + text.stderr };
}

/** Runs a command to its end. */
export function sluice(args: readonly string[], how: Start = {}): Promise<Ended> {
  return start(args, how).ended;
}

/** A private folder that goes with the test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-journey-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Waits until something is true; fails with what was waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for: ${what}`);
    await wait(20);
  }
}

/** One line of the service's request log. */
export interface Logged {
  /** Monotonic milliseconds. */
  readonly arrived: number;
  readonly method: string;
  readonly path: string;
  readonly from: string;
  /** Null: the client went away first. */
  readonly status: number | null;
}

export interface World {
  readonly folder: string;
  /** Base URL of the embedded service. */
  readonly url: string;
  /** Ids of push-only data sources, made beforehand without the daemon, by format. */
  readonly instances: Readonly<Record<'csv' | 'json' | 'xml', string>>;
  /** The bytes that an instance shows; null when it never had any. */
  data(instance: string): Promise<string | null>;
  /** All requests that have ended so far. */
  requests(): Promise<Logged[]>;
  /** Writes the config and returns its path. */
  config(config: object): Promise<string>;
  /** One call to the service as its admin. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Envelope }>;
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
}

/** A service in a process of its own, with one company, its admin, and one push-only source of each format. */
export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const folder = await makeFolder();
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
  const ready = join(folder, 'ready.json');
  const log = join(folder, 'requests.jsonl');
  const flags = ['--memory', '--port', '0', '--fixtures', fixtures, '--ready-file', ready, '--request-log', log];
  const service = start(['serve', ...flags, ...(options.serve ?? [])], {
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.preload === undefined ? {} : { preload: options.preload }),
  });
  await Promise.race([until('the service to listen', () => existsSync(ready)), service.ended.then(failedToStart)]);
  const { url } = JSON.parse(await readFile(ready, 'utf8')) as { url: string };
  const call = callTo(url);
  const instances = { csv: await push(call, 'csv'), json: await push(call, 'json'), xml: await push(call, 'xml') };
  return {
    folder,
    url,
    instances,
    call,
    data: async (instance) => {
      const { statusCode, body } = await request(`${url}/datasource-instances/${instance}/data`, {
        headers: { 'kf-api-key': adminKey },
      });
      const text = await body.text();
      return statusCode === 200 ? text : null;
    },
    requests: async () => {
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Logged);
    },
    config: async (config) => {
      const file = join(folder, 'sluice.yaml');
      await writeFile(file, JSON.stringify({ version: 1, state: './state', ...config }));
      return file;
    },
  };
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

/** Makes a push-only source; the setting up must not be slowed or counted out by the limits under test. */
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

/** The most requests that any window of `windowMs` saw. */
export function busiestWindow(arrivals: readonly number[], windowMs = 1000): number {
  const ordered = [...arrivals].sort((a, b) => a - b);
  let most = 0;
  for (let first = 0, last = 0; last < ordered.length; last++) {
    while (ordered[last]! - ordered[first]! >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
