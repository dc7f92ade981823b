import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createPeer, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFtpScript } from '../connectors/ftp-script.ts';
import type { Home } from './home.ts';
import { type Ended, forTest, type Running, type Start, until } from './process.ts';
import { adminKey, forSuite, makeWorld, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
});

/** A source that accepts requests but never responds. */
async function serveSilence() {
  const server = createServer((request) => request.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  forTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A user's folder without a daemon. */
interface Prepared {
  readonly home: Home;
  readonly instance: string;
  readonly config: (more?: object) => Promise<string>;
}

interface Town extends Prepared {
  readonly daemon: Running;
  readonly socket: string;
  /** The number of syncs that the daemon has run. */
  readonly served: () => number;
}

interface TownOptions {
  readonly job?: object;
  readonly sources?: object;
  readonly top?: object;
  readonly start?: Start;
}

/**
 * A home whose syncs wait for the daemon as long as they must. By default, a sync runs its jobs itself if a busy machine
 * delays the daemon's response.
 */
function patient(home: Home): Home {
  const start: Home['start'] = (args, how = {}) =>
    home.start(args, { ...how, preload: ['patient-client', ...(how.preload ?? [])] });
  return { ...home, start, sluice: (args, how) => start(args, how).ended };
}

/** A config whose only job never fires by itself. */
async function prepare({ job, sources, top }: TownOptions = {}): Promise<Prepared> {
  const home = patient(await world.home(forTest));
  const instance = await world.instance('csv');
  await home.write('rows.csv', 'id,name\n1,a\n');
  const config = (more: object = {}) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' }, ...sources },
      jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: instance, ...job } },
      ...top,
      ...more,
    });
  await config();
  return { home, instance, config };
}

/** The same with a daemon. */
async function openTown(options: TownOptions = {}): Promise<Town> {
  const prepared = await prepare(options);
  const { home } = prepared;
  const socket = join(home.folder, 'state', 'daemon.sock');
  const daemon = await startDaemon(home, { how: options.start, socket });
  return { ...prepared, daemon, socket, served: () => servedBy(daemon) };
}

interface DaemonOptions {
  readonly how?: Start | undefined;
  readonly socket: string;
}

/** Resolves when the daemon listens, whatever an earlier daemon has left behind. */
async function startDaemon(home: Home, { how = {}, socket }: DaemonOptions): Promise<Running> {
  const inode = (): number | undefined => lstatSync(socket, { throwIfNoEntry: false })?.ino;
  const former = inode();
  const daemon = home.start(['run'], { serves: true, ...how });
  const isListening = (): boolean => inode() !== undefined && inode() !== former;
  await until('the daemon to accept syncs', isListening, { seen: daemon.output });
  return daemon;
}

const servedBy = (daemon: Running): number => daemon.output().split('"msg":"sync.handed_over"').length - 1;

/** The result without the parts that differ between any two runs. */
function plain({ code, signal, stdout, stderr }: Ended) {
  const same = (text: string): string =>
    text
      .replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, 'RUN')
      .replaceAll(/"milliseconds": \d+/g, '"milliseconds": 0')
      .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
      .replaceAll(/process \d+/g, 'process N')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
      .replaceAll(/[\d.]+ (ms|s)\b/g, 'T')
      .replaceAll(/ {2,}|─+/g, '  ')
      .replaceAll(/\/\S*sluice-journey-\w+/g, 'HOME')
      .replaceAll(/[\d,]+ rows\/s/g, 'SPEED')
      .replaceAll(/\b[0-9a-f]{32}\b/g, 'INSTANCE');
  return { code, signal, stdout: same(stdout), stderr: same(stderr) };
}

function historyOf({ home }: Prepared) {
  // Without a daemon, a sync that starts no run creates no state.
  if (!existsSync(join(home.folder, 'state', 'sluice.db'))) return [];
  return home.state().runs.map(({ job, origin, state, row_count, bytes, requests, code }) => ({
    ...{ job, origin, state, row_count, bytes, requests, code },
  }));
}

/** A series of syncs. Each is run by the daemon or by its own process. */
type Story = (prepared: Prepared, sync: (...args: string[]) => Promise<Ended>) => Promise<Ended[]>;

interface Outcome {
  readonly town?: () => TownOptions | Promise<TownOptions>;
  readonly story: Story;
  /** What the last sync prints. */
  readonly shows: RegExp;
  readonly code: number;
  /** How many of the syncs the daemon runs; by default, all. */
  readonly served?: number;
}

const once1: Story = async (_, sync) => [await sync('orders')];
const twice: Story = async (_, sync) => [await sync('orders'), await sync('orders')];

async function lockedServer(): Promise<TownOptions> {
  const reply = (verb: string) => (verb === 'PASS' ? '530 Login incorrect.' : undefined);
  const server = await openFtpScript({ files: new Map(), reply });
  forTest(() => server.close());
  return {
    sources: { away: { connector: 'ftp', ...server.source, password: 'wrong' } },
    job: { source: 'away', query: { path: 'a.csv' } },
  };
}

const outcomes: Record<string, Outcome> = {
  delivered: { story: once1, shows: /orders .*delivered/, code: 0 },
  unchanged: { story: twice, shows: /orders .*unchanged/, code: 0 },
  'as JSON': { story: async (_, sync) => [await sync('--json')], shows: /"state": "delivered"/, code: 0 },
  'a config with a warning': {
    town: () => ({
      top: {
        destinations: {
          main: { url: world.url, api_key: adminKey },
          twin: { url: world.url, api_key: 'other'.repeat(8), account: 'main' },
        },
      },
      job: { destination: 'main' },
    }),
    story: once1,
    shows: /^warning /m,
    code: 0,
  },
  'a failed source': { town: () => ({ job: { query: 'gone.csv' } }), story: once1, shows: /FILE_/, code: 1 },
  'a failed source as JSON': {
    town: () => ({ job: { query: 'gone.csv' } }),
    story: async (_, sync) => [await sync('--json', 'orders')],
    shows: /"exit_code": 1/,
    code: 1,
  },
  quarantined: {
    town: () => ({ job: { guards: { rows: { minimum: 2 } } } }),
    story: once1,
    shows: /orders .*quarantined/,
    code: 1,
  },
  'a held login': { town: lockedServer, story: twice, shows: /on hold: login refused/, code: 1 },
  'a retried source': {
    town: () => ({
      sources: { away: { connector: 'simple_rest', url: 'http://127.0.0.1:9', retries: 0 } },
      job: { source: 'away', query: '/a.csv', retry: { first: '1s', longest: '1s', attempts: 2 } },
    }),
    story: async (_, sync) => [await sync('orders', '--wait', '60')],
    shows: /next attempt in/,
    code: 1,
  },
  'a refused key': {
    town: () => ({ top: { destinations: { main: { url: world.url, api_key: 'wrong'.repeat(8) } } } }),
    story: twice,
    shows: /rejects the credentials/,
    code: 3,
  },
  'on hold after a rollback': {
    town: () => ({ top: { keep: { payloads: 3 } } }),
    story: async ({ home }, sync) => {
      const first = await sync('orders');
      await home.write('rows.csv', 'id,name\n2,b\n');
      const second = await sync('orders');
      expect((await home.sluice(['rollback', 'orders'])).code).toBe(0);
      return [first, second, await sync('orders')];
    },
    shows: /on hold; to resume/,
    code: 1,
  },
  'an unknown job': { story: async (_, sync) => [await sync('ordres')], shows: /CLI_UNKNOWN_JOB/, code: 2, served: 0 },
  'an edited config with an error': {
    story: async ({ config }, sync) => {
      await config({ concurrency: 'many' });
      return [await sync('orders')];
    },
    shows: /CONFIG_/,
    code: 2,
    served: 0,
  },
  'a dry run': { story: async (_, sync) => [await sync('-n')], shows: /1 row/, code: 0, served: 0 },
  'a flag that does not exist': {
    story: async (_, sync) => [await sync('--qux')],
    shows: /unknown option/,
    code: 2,
    served: 0,
  },
};

describe('a sync that the daemon runs', () => {
  it.each(Object.entries(outcomes))(
    'has the same output and exit code as a sync in its own process: %s',
    async (_, outcome) => {
      const { town: options = () => ({}), story, shows, code } = outcome;
      const tell = async <P extends Prepared>(place: P) => {
        const ended = await story(place, (...args) => place.home.sluice(['sync', ...args]));
        return { place, ended, history: historyOf(place), shown: await world.data(place.instance) };
      };
      const here = await tell(await prepare(await options()));
      const there = await tell(await openTown(await options()));
      expect(there.ended.map(plain)).toEqual(here.ended.map(plain));
      expect(there.history).toEqual(here.history);
      expect(there.shown).toBe(here.shown);
      const last = there.ended.at(-1)!;
      expect(last.stdout + last.stderr).toMatch(shows);
      expect(last.code).toBe(code);
      expect(there.place.served()).toBe(outcome.served ?? there.ended.length);
    },
  );

  it("suggests commands with the caller's config flag", async () => {
    const { home, served } = await openTown({ job: { query: 'gone.csv' } });
    const named = await home.sluice(['sync', 'orders', '-c', `../${basename(home.folder)}/sluice.yaml`], {
      cwd: home.folder,
    });
    expect(named.stderr).toMatch(/sluice history --config \S+sluice\.yaml --run/);
    expect((await home.sluice(['sync', 'orders'])).stderr).toMatch(/sluice history --run/);
    expect(served()).toBe(2);
  });

  it("exits with a received signal's exit code, and its run is interrupted", async () => {
    const { server, url } = await serveSilence();
    const silent = {
      sources: { slow: { connector: 'simple_rest', url } },
      job: { source: 'slow', query: '/a.csv', retry: 'off' },
    };
    const tell = async <P extends Prepared>(signal: NodeJS.Signals, place: P) => {
      const asked = once(server, 'request');
      const sync = place.home.start(['sync', '--json']);
      await asked;
      sync.child.kill(signal);
      return { place, ended: await sync.ended, history: historyOf(place) };
    };
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const here = await tell(signal, await prepare(silent));
      const there = await tell(signal, await openTown(silent));
      expect(plain(there.ended)).toEqual(plain(here.ended));
      expect(there.history).toEqual(here.history);
      expect(there.ended.code).toBe(code);
      expect(there.place.served()).toBe(1);
    }
  });

  it('reports that the job is busy if the daemon is already running it', async () => {
    const { server, url } = await serveSilence();
    const { home, served } = await openTown({
      sources: { slow: { connector: 'simple_rest', url } },
      job: { source: 'slow', query: '/a.csv' },
    });
    const asked = once(server, 'request');
    const first = home.start(['sync']);
    await asked;
    const [there, here] = [await home.sluice(['sync']), await home.sluice(['sync', '--local'])];
    expect(plain(there)).toEqual(plain(here));
    expect(there).toMatchObject({ code: 1, stdout: expect.stringContaining('another run of this job is in progress') });
    first.child.kill('SIGINT');
    expect(await first.ended).toMatchObject({ code: 130 });
    expect(served()).toBe(2);
  });
});

describe('if one of the two processes dies', () => {
  const silentJob = (url: string): TownOptions => ({
    sources: { slow: { connector: 'simple_rest', url } },
    job: { source: 'slow', query: '/a.csv', retry: 'off' },
  });

  it("the daemon stops a killed client's run and keeps running", async () => {
    const { server, url } = await serveSilence();
    const { home, daemon } = await openTown(silentJob(url));
    const asked = once(server, 'request');
    const sync = home.start(['sync']);
    await asked;
    sync.child.kill('SIGKILL');
    await until('the run to end', () => home.state().runs[0]?.state === 'interrupted');
    await until('the job to be free', () => !home.state().leases.some(({ name }) => name === 'job:orders'));
    expect(daemon.child.exitCode).toBeNull();
  });

  it('a terminated daemon reports how its runs ended', async () => {
    const { server, url } = await serveSilence();
    const { home, daemon } = await openTown(silentJob(url));
    const asked = once(server, 'request');
    const sync = home.start(['sync']);
    await asked;
    daemon.child.kill('SIGTERM');
    const ended = await sync.ended;
    expect(ended.stdout).toMatch(/orders .*stopped/);
    expect(ended.stderr).toContain('The daemon that ran this sync was stopped.');
    expect(ended.code).toBe(1);
    expect((await daemon.ended).code).toBe(0);
  });

  it.each(['run.started', 'payload.spooled', 'payload.owed', 'upload.started', 'payload.delivered', 'run.finished'])(
    'the client reports an unknown result if the daemon is killed at %s, and the next sync completes the delivery',
    async (event) => {
      const start = { preload: ['kill-at'], env: { KILL_AT: event } };
      const { home, instance } = await openTown({ start });
      const ended = await home.sluice(['sync', '--json'], { preload: ['kill-at'] });
      expect(ended.code).toBe(1);
      expect(ended.stderr).toMatch(/^SYNC_RESULT_UNKNOWN: /m);
      expect(JSON.parse(ended.stdout)).toMatchObject({ exit_code: 1, problem: { code: 'SYNC_RESULT_UNKNOWN' } });
      const again = await home.sluice(['sync']);
      expect(again.code).toBe(0);
      expect(await world.data(instance)).toBe('id,name\n1,a\n');
      expect((await world.uploads(instance)).length).toBeLessThanOrEqual(event === 'payload.delivered' ? 1 : 2);
    },
  );

  it("a killed daemon's socket isn't used, and the next daemon replaces it", async () => {
    const { home, daemon, socket } = await openTown();
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    expect(existsSync(socket)).toBe(true);
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0, stderr: expect.stringContaining('delivered') });
    const next = await startDaemon(home, { socket });
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0 });
    expect(servedBy(next)).toBe(1);
    next.child.kill('SIGTERM');
    await next.ended;
    expect(existsSync(socket)).toBe(false);
  });
});

/** Why a sync would not be handed over. */
async function reasonOf(home: Home, how?: Start, ...args: string[]): Promise<string> {
  const { stderr, code } = await home.sluice(['sync', '--log', 'debug', ...args], how);
  expect(code, stderr).toBe(0);
  const lines = stderr.split('\n').filter((line) => line.includes('"msg":"sync.local"'));
  expect(lines).toHaveLength(1);
  return (JSON.parse(lines[0]!) as { reason: string }).reason;
}

describe('the check before a sync is handed over', () => {
  it('passes if nothing differs, unless the caller writes a log', async () => {
    const { home, served } = await openTown();
    expect(await reasonOf(home)).toBe("--log writes this process's log");
    expect(served()).toBe(0);
  });

  it('fails if the config was edited, and the caller applies the new config itself', async () => {
    const { home, config, instance } = await openTown();
    await home.write('new.csv', 'id\n7\n');
    await config({ jobs: { orders: { source: 'files', query: 'new.csv', format: 'csv', target: instance } } });
    expect(await reasonOf(home)).toContain('the config was edited');
    expect(await world.data(instance)).toBe('id\n7\n');
    expect((await home.sluice(['reload'])).code).toBe(0);
    expect(await reasonOf(home)).toContain('--log');
  });

  it('fails if an environment variable that the config uses differs', async () => {
    const job = { query: `\${env:ROWS_FILE:-rows.csv}` };
    const { home, instance, served } = await openTown({ job });
    await home.write('mine.csv', 'id\n9\n');
    expect(await reasonOf(home, { env: { ROWS_FILE: 'mine.csv' } })).toContain('a different environment');
    expect(await world.data(instance)).toBe('id\n9\n');
    expect(await reasonOf(home, { env: { TZ: 'Asia/Tokyo' } })).toContain('a different environment');
    expect(await home.sluice(['sync'], { env: { UNRELATED: '1' } })).toMatchObject({ code: 0 });
    expect(served()).toBe(1);
  });

  it('fails if a file named in the config was edited', async () => {
    const { home, config, instance } = await openTown();
    await home.write('which', 'rows.csv\n');
    await home.write('b.csv', 'id\n8\n');
    await config({ jobs: { orders: { source: 'files', query: `\${file:which}`, format: 'csv', target: instance } } });
    expect((await home.sluice(['reload'])).code).toBe(0);
    expect(await reasonOf(home)).toContain('--log');
    await home.write('which', 'b.csv\n');
    expect(await reasonOf(home)).toContain('a file named in the config was edited');
    expect(await world.data(instance)).toBe('id\n8\n');
  });

  it('fails for a different config, for different Node options, and for flags that need no daemon', async () => {
    const { home, instance } = await openTown();
    const other = await home.write(
      'other.yaml',
      JSON.stringify({
        ...{ version: 1, state: './state', destinations: { main: { url: world.url, api_key: adminKey } } },
        sources: { files: { connector: 'file' } },
        jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: instance } },
      }),
    );
    expect(await reasonOf(home, {}, '-c', other)).toContain('it uses another config');
    expect(await reasonOf(home, { node: ['--no-warnings'] })).toContain('Node has other options');
    expect(await reasonOf(home, {}, '--local')).toBe('the daemon does not accept --local');
  });

  it('fails if the config runs commands or custom connectors', async () => {
    const { home } = await openTown({ top: { allow_commands: true }, job: { query: `\${cmd:echo rows.csv}` } });
    expect(await reasonOf(home)).toContain('the output of a command');
  });
});

describe('the hand-over socket', () => {
  it('is accessible only to its owner', async () => {
    const { socket } = await openTown();
    expect(lstatSync(socket).mode & 0o777).toBe(0o600);
    expect(lstatSync(socket).isSocket()).toBe(true);
  });

  it('is not used if other users can write to it or to its folder, or if it is a link', async () => {
    const { home, socket, served } = await openTown();
    const local = async (what: string): Promise<void> => {
      expect(await home.sluice(['sync']), what).toMatchObject({ code: 0 });
      expect(served(), what).toBe(0);
    };
    chmodSync(socket, 0o666);
    await local('a socket for all');
    chmodSync(socket, 0o600);
    renameSync(socket, `${socket}.real`);
    symlinkSync(`${socket}.real`, socket);
    await local('a link');
    renameSync(`${socket}.real`, socket);
    chmodSync(join(home.folder, 'state'), 0o770);
    await local('a folder for a group');
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0 });
    // The sync that ran locally has made the folder private again.
    expect(served()).toBe(1);
  });

  it.runIf(process.getuid!() === 0)("is not used by root in another user's folder", async () => {
    const { home, socket, served } = await openTown();
    for (const path of [join(home.folder, 'state'), socket]) chownSync(path, 12_345, 12_345);
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0 });
    expect(served()).toBe(0);
  });

  it("isn't required: a daemon that can't create one runs without it", async () => {
    const { home, daemon, socket } = await openTown();
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    // Where the socket would be created.
    mkdirSync(join(home.folder, 'state', '.daemon.sock.new', 'x'), { recursive: true });
    const next = home.start(['run'], { serves: true });
    await until('the daemon to continue', () => next.output().includes('sync.not_accepted'), { seen: next.output });
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0, stderr: expect.stringContaining('delivered') });
    expect(existsSync(socket)).toBe(false);
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });

  it("is reachable even if its folder's path is too long for a socket", async () => {
    const long = `state-${'x'.repeat(180)}`;
    const { home } = await openTown();
    await home.write('rows.csv', 'id\n5\n');
    const text = JSON.stringify({
      ...{ version: 1, state: `./${long}`, destinations: { main: { url: world.url, api_key: adminKey } } },
      sources: { files: { connector: 'file' } },
      jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: await world.instance('csv') } },
    });
    writeFileSync(join(home.folder, 'sluice.yaml'), text);
    const daemon = await startDaemon(home, { socket: join(home.folder, long, 'daemon.sock') });
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0 });
    expect(servedBy(daemon)).toBe(1);
  });
});

/** A peer's responses, one for each line that it receives; if it's a function, it may end the connection. */
type Peer = readonly (object | string | ((socket: Socket) => unknown))[];

/** Another process of the same user acts as the daemon of a state that no daemon uses. */
async function openPeer(answers: Peer) {
  const home = await world.home(forTest);
  const instance = await world.instance('csv');
  await home.write('rows.csv', 'id\n1\n');
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: instance } },
  });
  await home.sluice(['sync', '-n']);
  mkdirSync(join(home.folder, 'state'), { mode: 0o700, recursive: true });
  const socket = join(home.folder, 'state', 'daemon.sock');
  const said: string[] = [];
  const server = createPeer((client) => {
    const left = [...answers];
    client.on('error', () => undefined).setEncoding('utf8');
    client.on('data', (text: string) => {
      for (const line of text.split('\n').slice(0, -1)) {
        said.push(line);
        const answer = left.shift();
        if (typeof answer === 'function') answer(client);
        else if (answer !== undefined)
          client.write(typeof answer === 'string' ? answer : `${JSON.stringify(answer)}\n`);
      }
    });
  }).listen(socket);
  await once(server, 'listening');
  chmodSync(socket, 0o600);
  forTest(() => server.close());
  return { home, instance, said };
}

/** What a daemon would report about itself, using a process that has the same environment as the tests' commands. */
function acceptance() {
  const twin = spawn('sleep', ['600'], { env: process.env, stdio: 'ignore' });
  forTest(() => twin.kill());
  const namespaces = ['pid', 'mnt', 'net'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
  return { accepted: { pid: twin.pid, namespaces, variables: ['PATH'] } };
}

describe('a peer that is not the daemon', () => {
  it.each<[string, () => Peer]>([
    ['says nothing', () => []],
    ['hangs up', () => [(client) => client.destroy()]],
    ['sends garbage', () => ['HTTP/1.1 400 Bad Request\r\n\r\n']],
    ['sends another message', () => [{ stdout: 'all delivered', code: 0 }]],
    ['declines, as an older version would', () => [{ declined: 'it has another version' }]],
    ['is in another container', () => [{ accepted: { pid: 1, namespaces: ['a', 'b', 'c'], variables: [] } }]],
    ['names no process', () => [{ accepted: { ...acceptance().accepted, pid: 0 } }]],
    ['declines at the last moment', () => [acceptance(), { declined: 'it is loading a config' }]],
  ])('is ignored, and the client runs the jobs itself, if it %s', async (_, answers) => {
    const { home, instance, said } = await openPeer(answers());
    expect(await home.sluice(['sync'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/orders .*delivered/) });
    expect(await world.uploads(instance)).toHaveLength(1);
    expect(said.length).toBeGreaterThan(0);
    expect(said.join()).not.toContain(adminKey);
  });

  it.each<[string, Peer]>([
    ['hangs up', [(client) => client.destroy()]],
    ['sends garbage', ['what?\n']],
    ['starts and hangs up', [(client) => client.end('{"started":true}\n')]],
    ['starts and sends garbage', ['{"started":true}\n{"stdout":\n']],
  ])('leaves the result unknown, and nothing runs twice, if it %s after the start message', async (_, then) => {
    const { home, instance } = await openPeer([acceptance(), ...then]);
    const ended = await patient(home).sluice(['sync', 'orders']);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^SYNC_RESULT_UNKNOWN: [\s\S]*check what happened with sluice history orders/);
    expect(await world.uploads(instance)).toHaveLength(0);
  });

  it("can't keep a second signal from killing the sync", async () => {
    const { home } = await openPeer([acceptance(), '{"started":true}\n{"stderr":"begun\\n"}\n']);
    const sync = patient(home).start(['sync']);
    await until('the runs to begin', () => sync.output().includes('begun'));
    sync.child.kill('SIGINT');
    await wait(1_100);
    sync.child.kill('SIGINT');
    expect(await sync.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
  });
});
