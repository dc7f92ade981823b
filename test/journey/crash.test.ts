import { once } from 'node:events';
import { copyFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunEvents } from '../../src/daemon/events.ts';
import type { DeliveryEvents } from '../../src/delivery/events.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import type { PipelineEvents } from '../../src/pipeline/events.ts';
import { type Fault, type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import type { Home } from './home.ts';
import { adminKey, busiestWindow, forSuite, makeWorld, until, type World } from './world.ts';

const older = 'id,name\n1,old\n';
const newer = 'id,name\n1,new\n2,"wïth ""quotes"", and\nlines"\n';
const newest = 'id,name\n3,newest\n';
/** Longer than any day, even one on which clocks are set back. */
const day = 26 * 60 * 60 * 1000;

/** A case's setup: a service that doesn't rate-limit (its own log shows how fast we were), behind a proxy. */
const scope = forSuite();
let world: World;
let proxy: FaultProxy;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
  proxy = await openFaultProxy(world.url, scope);
});

interface Stage {
  readonly home: Home;
  readonly instance: string;
  /**
   * The number of requests to the service and the proxy together. Both count, because the proxy may handle a request
   * itself.
   */
  sent(): number;
}

async function stage(text: string): Promise<Stage> {
  const instance = await world.instance('csv');
  const home = await world.home();
  await home.write('rows.csv', text);
  await home.config({
    keep: { payloads: 0 },
    guards: { columns: ['id'] },
    destinations: { main: { url: proxy.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { rows: { source: 'files', query: 'rows.csv', format: 'csv', target: instance } },
  });
  return { home, instance, sent: () => proxy.met.filter((met) => met.instance === instance).length };
}

const killAt = (event: string, nth = 1) => ({
  preload: ['kill-at'],
  env: { KILL_AT: event, KILL_NTH: String(nth) },
});

/** Checks that nothing is left over: no owed payload, no unfinished run, no lease of a dead process, no unused file. */
async function expectHealthy({ home }: Stage): Promise<void> {
  home.age();
  expect((await home.syncHere()).code).toBe(0);
  const { runs, outbox, leases } = home.state();
  expect(outbox.filter(({ state }) => state === 'owed')).toEqual([]);
  expect(runs.filter(({ state }) => state === 'running' || state === 'owed')).toEqual([]);
  expect(leases).toEqual([]);
  // If an older upload may still arrive, the last payload is kept until it's sent again.
  const last = outbox.findLast(({ state }) => state === 'delivered');
  const again = outbox.some(({ unanswered_at, sha256 }) => unanswered_at !== null && sha256 !== last?.sha256);
  const kept = outbox.filter((row) => row.state === 'dead' || (again && row === last)).map(({ path }) => path);
  const files = home.payloads().map((name) => join(home.folder, 'state', 'payloads', name));
  expect(files.filter((path) => !kept.some((one) => one.startsWith(path)))).toEqual([]);
}

async function expectPaced({ instance }: Stage): Promise<void> {
  const arrivals = (await world.uploads(instance)).map(({ arrived }) => arrived);
  expect(busiestWindow(arrivals)).toBeLessThanOrEqual(5);
}

interface Case {
  /** What happens to the first upload. */
  readonly fault?: Fault;
  /** Runs before the process that is killed. */
  readonly before?: (stage: Stage) => Promise<void>;
  /** What the killed process reads; by default, the newer text. */
  readonly reads?: string;
  /** Maximum number of requests, before and after the kill together. */
  readonly requests: readonly number[];
  /** For cases in which nothing more can be sent before the next day. */
  readonly dayTurns?: true;
}

const deliverOlder = async ({ home }: Stage) => {
  await home.write('rows.csv', older);
  expect((await home.syncHere()).code).toBe(0);
};

const oweOlder = async ({ home, instance }: Stage) => {
  await home.write('rows.csv', older);
  proxy.script(instance, { answer: 503 });
  expect((await home.syncHere({ waitSeconds: 0 })).code).toBe(1);
  expect(home.state().outbox).toMatchObject([{ state: 'owed' }]);
};

const deliverNewer = async ({ home }: Stage) => {
  await home.write('rows.csv', newer);
  expect((await home.syncHere()).code).toBe(0);
};

/** Events that only a daemon, a refresh or a source that resumes emits. Other tests kill processes at these events. */
type Elsewhere =
  | 'run.warning'
  | 'run.retrying'
  | 'quota.reset'
  | 'refresh.queued'
  | 'refresh.failed'
  | `firing.${string}`
  | `job.${string}`
  | 'quota.short'
  | `usage.${'reported' | 'refused'}`
  | 'extract.unchanged'
  | `payload.${'approved' | 'discarded' | 'restored' | 'revived' | 'repeated'}`
  | `config.${string}`
  | `payloads.${string}`
  | `source.${string}`
  | `state.${string}`
  | 'clock.set'
  | `daemon.${string}`
  | `fleet.${string}`
  | `schedules.${string}`;
type Step = Exclude<keyof (PipelineEvents & DeliveryEvents & RunEvents), Elsewhere>;

/** One case per event: an event without a case causes a type error. */
const matrix: { readonly [S in Step]: Case } = {
  'run.started': { requests: [1] },
  'extract.started': { requests: [1] },
  'extract.progressed': { requests: [1] },
  'extract.failed': { reads: 'id,name\n1,a,surplus\n', requests: [1] },
  'extract.finished': { before: deliverNewer, requests: [1] },
  'payload.spooled': { requests: [1] },
  'payload.owed': { requests: [1] },
  'payload.refused': { reads: 'id,name\n', requests: [1] },
  'payload.quarantined': { reads: 'no,name\n1,a\n', requests: [1] },
  'payload.unchanged': { before: deliverNewer, requests: [1] },
  'payload.superseded': { before: oweOlder, requests: [2, 3] },
  'request.sent': { before: deliverOlder, requests: [2, 3] },
  'upload.started': { before: deliverOlder, requests: [2, 3] },
  'request.answered': { before: deliverOlder, requests: [2, 3] },
  'upload.failed': { fault: { answer: 500 }, requests: [2] },
  'payload.waiting': { fault: { answer: 500 }, requests: [2] },
  'payload.dead': { fault: { answer: 422 }, requests: [2] },
  'payload.delivered': { before: deliverOlder, requests: [2] },
  'account.paused': { fault: { answer: 429, headers: { 'retry-after': '1' } }, requests: [2] },
  'account.slowed': { fault: { answer: 429, headers: { 'retry-after': '1' } }, requests: [2] },
  'login.refused': { fault: { answer: 401 }, requests: [2] },
  'quota.spent': { fault: { answer: 429, code: 'daily_limit_reached' }, requests: [2], dayTurns: true },
  'run.finished': { requests: [1] },
};

describe('a sync that is killed', () => {
  for (const [event, given] of Object.entries(matrix)) {
    it(`at ${event} is completed by the next sync, with nothing left over`, async () => {
      const one = await stage(newer);
      const { home, instance } = one;
      await given.before?.(one);
      const shownBefore = await world.data(instance);
      await home.write('rows.csv', given.reads ?? newer);
      if (given.fault !== undefined) proxy.script(instance, given.fault);

      const killed = await home.sync(killAt(event));
      expect(killed).toMatchObject({ signal: 'SIGKILL', stdout: '' });
      expect([shownBefore, newer]).toContain(await world.data(instance));

      await home.write('rows.csv', newer);
      const turned = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: String(day) } };
      const again = await (given.dayTurns ? home.sync(turned) : home.syncHere());
      expect(again).toMatchObject({ code: 0, signal: null });
      expect(await world.data(instance)).toBe(newer);
      expect(given.requests).toContain(one.sent());
      await expectPaced(one);
      if (!given.dayTurns) await expectHealthy(one);
      expect(given.requests).toContain(one.sent());
    });
  }
});

describe('a sync after a kill', () => {
  it.for(['payload.owed', 'upload.started', 'request.answered'])(
    'at %s sends newer rows instead of the owed ones',
    async (event) => {
      const one = await stage(older);
      const { home, instance } = one;
      await home.sync(killAt(event));
      await home.write('rows.csv', newest);
      expect((await home.syncHere()).code).toBe(0);
      expect(await world.data(instance)).toBe(newest);
      expect(home.state().outbox.map(({ state }) => state)).toEqual(['superseded', 'delivered']);
      expect((await world.uploads(instance)).at(-1)?.status).toBe(200);
      await expectHealthy(one);
      expect(await world.data(instance)).toBe(newest);
    },
  );

  it('delivers the owed payload even if the source now fails, and reports the failure', async () => {
    const one = await stage(newer);
    const { home, instance } = one;
    await home.sync(killAt('payload.owed'));
    expect(await world.data(instance)).toBeNull();
    await rm(join(home.folder, 'rows.csv'));
    const again = await home.syncHere();
    expect(again.code).toBe(1);
    expect(again.jobs).toMatchObject([{ state: 'failed', problem: { code: 'FILE_NOT_FOUND' } }]);
    expect(await world.data(instance)).toBe(newer);
    expect(one.sent()).toBe(1);
    await home.write('rows.csv', newer);
    await expectHealthy(one);
    expect(one.sent()).toBe(1);
  });

  it("sends unchanged rows again if it's unknown whether they arrived", async () => {
    const one = await stage(newer);
    const { home, instance } = one;
    await home.sync(killAt('request.answered'));
    expect(await world.data(instance)).toBe(newer);
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered', requests: 1 }]);
    expect(one.sent()).toBe(2);
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'unchanged', requests: 0 }]);
    expect(one.sent()).toBe(2);
  });

  it("in the middle of an extract deletes the partial file, even if it's recent", async () => {
    let stalls = true;
    const api = createServer((_request, answer) => {
      answer.writeHead(200, { 'content-type': 'text/csv' });
      if (stalls) answer.write('id,name\n1,never');
      else answer.end(newer);
    });
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
    onTestFinished(() => void api.close().closeAllConnections());
    const instance = await world.instance('csv');
    const home = await world.home();
    const { port } = api.address() as AddressInfo;
    await home.config({
      keep: { payloads: 0 },
      destinations: { main: { url: proxy.url, api_key: adminKey } },
      sources: { api: { connector: 'simple_rest', url: `http://127.0.0.1:${port}` } },
      jobs: { rows: { source: 'api', query: '/rows.csv', format: 'csv', target: instance } },
    });
    const halfWritten = () => home.payloads().filter((name) => name.includes('.tmp-'));
    const sync = home.start(['sync']);
    await until('the temporary files of the extract', () => halfWritten().length >= 2);
    sync.child.kill('SIGKILL');
    await sync.ended;
    const left = halfWritten();
    expect(left.some((name) => name.endsWith('.scratch'))).toBe(true);
    stalls = false;
    expect((await home.syncHere()).code).toBe(0);
    expect(await world.data(instance)).toBe(newer);
    expect(home.payloads()).toEqual([]);
  });

  it('delivers the newest rows even after four kills, each at a later step', async () => {
    const one = await stage(older);
    const { home, instance } = one;
    for (const event of ['payload.spooled', 'payload.owed', 'upload.started', 'request.answered']) {
      await home.write('rows.csv', `id,name\n1,${event}\n`);
      expect((await home.sync(killAt(event))).signal).toBe('SIGKILL');
    }
    await home.write('rows.csv', newest);
    expect((await home.syncHere()).code).toBe(0);
    expect(await world.data(instance)).toBe(newest);
    await expectHealthy(one);
    await expectPaced(one);
  });

  it('in the middle of an upload delivers all new rows, and until then the service shows all old rows', async () => {
    const many = `id,name\n${Array.from({ length: 200_000 }, (_, i) => `${i},row number ${i}\n`).join('')}`;
    const one = await stage(older);
    const { home, instance } = one;
    await deliverOlder(one);
    await home.write('rows.csv', many);
    proxy.script(instance, { stall: true });
    const sync = home.start(['sync', '--json']);
    await until('the upload to start', () => one.sent() === 2);
    expect(await world.data(instance)).toBe(older);
    sync.child.kill('SIGKILL');
    expect((await sync.ended).signal).toBe('SIGKILL');
    proxy.drop();
    await until('the service to notice the broken upload', async () =>
      (await world.uploads(instance)).some(({ status }) => status !== 200),
    );
    expect(await world.data(instance)).toBe(older);
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered', bytes: many.length }]);
    expect(await world.data(instance)).toBe(many);
    await expectHealthy(one);
  });

  it('delivers rows from a database the same way as rows from a file', async () => {
    const instance = await world.instance('json');
    const home = await world.home();
    const file = join(home.folder, 'shop.sqlite');
    const db = new SqliteDatabase(file);
    db.exec(
      "create table orders (id integer, name text); insert into orders values (1, 'a'), (9007199254740993, null)",
    );
    db.close();
    await copyFile(file, join(home.folder, 'copy.sqlite'));
    await home.config({
      destinations: { main: { url: proxy.url, api_key: adminKey } },
      sources: { shop: { connector: 'db', driver: 'sqlite', file: 'copy.sqlite' } },
      jobs: {
        orders: {
          source: 'shop',
          query: 'select id, name from orders order by rowid',
          format: 'json',
          target: instance,
        },
      },
    });
    const arrives = JSON.stringify([
      { id: 1, name: 'a' },
      { id: 0, name: null },
    ]).replace('0', '9007199254740993');
    for (const event of ['extract.progressed', 'payload.owed', 'upload.started']) {
      expect((await home.sync(killAt(event))).signal).toBe('SIGKILL');
    }
    const ended = await home.syncHere();
    expect(ended.code).toBe(0);
    expect(JSON.stringify(JSON.parse((await world.data(instance)) ?? 'null', exactly))).toBe(arrives);
  });
});

/** Keeps integers exactly as written, where a float would lose digits. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  const { source } = context ?? {};
  if (typeof value !== 'number' || source === undefined) return value;
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source);
}
