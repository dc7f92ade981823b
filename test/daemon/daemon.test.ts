import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { settle } from '../../src/delivery/settle.ts';
import { makeFolder, until } from '../journey/process.ts';
import { draftOf, spool } from '../state/fixtures.ts';
import { clockAtHalfPast, configOf, destinationOf, gate, jobOf, overdue, Source, setUp, startDaemon } from './rig.ts';

const hour = 3_600_000;

/** Accepts connections but never responds; counts the requests. */
async function openSilence() {
  let requests = 0;
  const server = createServer((request) => {
    requests++;
    request.resume();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/1.0`, requests: () => requests };
}

describe('the daemon', () => {
  it('runs a job when the real timer fires, and delivers its rows', async () => {
    const { config, source, service, instance } = await setUp();
    const clock = clockAtHalfPast();
    const { hear } = await startDaemon(config, { clock });
    expect(source.asked).toBe(0);
    clock.wall += hour;
    await hear('payload.delivered');
    expect(await service.data(instance)).toBe('value\nhello\n');
  });

  it('runs missed firings once at startup', async () => {
    const { config, job, source } = await setUp();
    const { hear, count, runtime } = await startDaemon(config, { before: overdue(job) });
    await hear('payload.delivered');
    expect(source.asked).toBe(1);
    expect(count('run.started')).toBe(1);
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBeGreaterThan(runtime.clock.now());
  });

  it('logs its start before anything else', async () => {
    const { config, job } = await setUp();
    const { heard, hear } = await startDaemon(config, { before: overdue(job) });
    await hear('run.started');
    const what = { version: '0.1.0', commit: 'unknown', node: process.version, pid: process.pid };
    expect(heard[0]).toEqual({ name: 'daemon.started', facts: { ...what, jobs: 1, scheduled: 1, owed: 0 } });
  });

  it('never lets a job overlap itself, but skips and reports the firings during a run', async () => {
    const { config, job, source } = await setUp();
    const slow = gate();
    source.says = slow.says;
    const clock = clockAtHalfPast();
    const { hear, count, daemon } = await startDaemon(config, { clock, before: overdue(job) });
    await until('the first extract to start', () => source.asked === 1);
    clock.wall += hour;
    await daemon.adopt(config);
    await hear('firing.skipped', { job: 'orders', reason: 'the previous run of this job is still running' });
    slow.open('late');
    await hear('payload.delivered');
    expect([source.asked, source.most, count('run.started')]).toEqual([1, 1, 1]);
    clock.wall += hour;
    await daemon.adopt(config);
    await until('the next extract to start', () => source.asked === 2);
  });

  it('skips a job that another process is running, and continues with its next firing', async () => {
    const { config, job, source } = await setUp();
    const { hear, runtime } = await startDaemon(config, {
      before: async (runtime) => {
        await overdue(job)(runtime);
        await runtime.store.leases.take('job:orders');
      },
    });
    await hear('firing.skipped', { reason: 'a sync or another process is running this job' });
    let next = 0;
    while (next < runtime.clock.now()) next = (await runtime.store.schedules.find('orders'))?.next_at ?? 0;
    expect(source.asked).toBe(0);
  });

  it('protects other jobs from an unreachable source, a source that throws and a missing target', async () => {
    const { folder, destination, service, source, instance } = await setUp();
    const [broken, odd] = [new Source(), new Source()];
    broken.says = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const declaration = { name: 'Nowhere', description: '', format: 'csv' as const, shares: [] };
    const jobs = [
      jobOf({ name: 'broken', destination, instance: await service.instance(), source: broken }),
      {
        ...jobOf({ name: 'odd', destination, instance: 'x', source: odd }),
        target: { kind: 'datasource' as const, declaration },
      },
      jobOf({ name: 'missing', destination, instance: 'not-there', source: new Source() }),
      jobOf({ name: 'good', destination, instance, source }),
    ];
    const { hear, runtime } = await startDaemon(configOf(folder, jobs), { before: overdue(...jobs) });
    await hear('payload.delivered', { job: 'good' });
    expect((await hear('run.finished', { job: 'broken' })).facts).toMatchObject({
      outcome: 'failed',
      code: 'CONNECTOR_THREW',
    });
    expect((await hear('run.finished', { job: 'odd' })).facts).toMatchObject({ code: 'TARGET_NOT_APPLIED' });
    await hear('payload.dead', { job: 'missing' });
    expect(await runtime.store.runs.last('good')).toMatchObject({ state: 'delivered' });
  });

  it('at startup, delivers the payloads that a killed process left owed', async () => {
    const { config, job, service, instance } = await setUp();
    const { hear, count } = await startDaemon(config, {
      before: async ({ store, gateway, clock }) => {
        const run = await store.runs.begin({ job: job.name, origin: 'schedule' });
        const payload = spool(store, { run, text: 'value\nleft\n', asOf: clock.now() });
        await settle(gateway, { job, run, payload: draftOf(payload) });
      },
    });
    await hear('payload.delivered');
    expect(await service.data(instance)).toBe('value\nleft\n');
    expect(count('run.started')).toBe(0);
  });

  it('retries a failed upload without a new extract', async () => {
    const { folder, service, source, instance } = await setUp();
    const gone = destinationOf('http://127.0.0.1:1/api/1.0');
    const job = jobOf({ name: 'orders', destination: gone, instance, source });
    const { hear, daemon } = await startDaemon(configOf(folder, [job]), { before: overdue(job) });
    await hear('payload.waiting', { job: 'orders' });
    const back = { ...job, destination: destinationOf(service.url) };
    await daemon.adopt(configOf(folder, [back]));
    await hear('payload.delivered');
    expect(source.asked).toBe(1);
  });

  it('keeps payloads owed if the daily quota is exhausted, and sends them the next day', async () => {
    const { folder, service, source, instance } = await setUp();
    const clock = clockAtHalfPast();
    const destination = destinationOf(service.url, { requestsPerDay: 1 });
    const jobs = [
      jobOf({ name: 'orders', destination, instance, source }),
      jobOf({ name: 'stock', destination, instance: await service.instance(), source: new Source() }),
    ];
    const config = configOf(folder, jobs);
    const { hear, count, runtime, daemon } = await startDaemon(config, { clock, before: overdue(...jobs) });
    await hear('payload.delivered');
    await hear('payload.waiting', { code: 'QUOTA_SPENT' });
    expect(await runtime.store.outbox.inState('owed')).toHaveLength(1);
    clock.wall += 25 * hour;
    await daemon.adopt(config);
    await until('the remaining payloads to be delivered', () => count('payload.delivered') >= 2);
  });
});

describe('a new config', () => {
  it('takes effect immediately for idle jobs, and after the run for a running job', async () => {
    const { folder, config, job, source, service, destination, instance } = await setUp();
    const slow = gate();
    source.says = slow.says;
    const { daemon, hear } = await startDaemon(config, { before: overdue(job) });
    await until('the extract to start', () => source.asked === 1);
    const other = jobOf({ name: 'stock', destination, instance: await service.instance(), source: new Source() });
    await daemon.adopt(configOf(folder, [other]));
    expect((await hear('config.reloaded')).facts).toMatchObject({ jobs: 1 });
    slow.open('from before');
    await hear('payload.delivered', { job: 'orders' });
    expect(await service.data(instance)).toBe('value\nfrom before\n');
  });

  it('lets a bulk refresh in progress finish on its original connections, and then closes them', async () => {
    const silence = await openSilence();
    const folder = await makeFolder();
    const destination = destinationOf(silence.url, { timeoutMs: 1500 });
    const { extract: _, ...rest } = jobOf({ name: 'fresh', destination, instance: '', source: new Source() });
    const job = { ...rest, target: { kind: 'refresh' as const, datasources: ['a'] } };
    const { daemon, runtime, hear } = await startDaemon(configOf(folder, [job]), { before: overdue(job) });
    await until('the refresh request', () => silence.requests() === 1);
    const closed = vi.spyOn(runtime.gateway, 'close');
    await daemon.adopt(configOf(folder, []));
    expect(closed).not.toHaveBeenCalled();
    await until('the second refresh request', () => silence.requests() === 2);
    await daemon.stop('enough');
    expect((await hear('run.finished')).facts).toMatchObject({ outcome: 'stopped' });
    expect(closed).toHaveBeenCalled();
  });

  it("doesn't run a queued job that it no longer contains", async () => {
    const { folder, service, destination } = await setUp();
    const slow = gate();
    const busy = new Source();
    busy.says = slow.says;
    const names = ['a', 'b', 'c', 'd'];
    const filling = await Promise.all(
      names.map(async (name) => jobOf({ name, destination, instance: await service.instance(), source: busy })),
    );
    const last = new Source();
    const inLine = jobOf({ name: 'last', destination, instance: await service.instance(), source: last });
    const jobs = [...filling, inLine];
    const { daemon, hear, runtime } = await startDaemon(configOf(folder, jobs), {
      before: async (given) => {
        await overdue(...filling)(given);
        await given.store.schedules.set({ job: 'last', schedule: 'UTC 0 * * * *', next_at: given.clock.now() - 1 });
      },
    });
    await until('all concurrent runs to start', () => busy.open === 4);
    await daemon.adopt(configOf(folder, filling));
    slow.open('x');
    await hear('firing.skipped', { job: 'last', reason: 'the job no longer has a schedule in the config' });
    expect(last.asked).toBe(0);
    expect(await runtime.store.schedules.find('last')).toBeUndefined();
  });

  it('leaves payloads owed and reports them if it no longer contains their destination', async () => {
    const { folder, config, service, source, instance } = await setUp();
    const gone = { ...destinationOf('http://127.0.0.1:1/api/1.0'), name: 'old' };
    const stuck = jobOf({ name: 'stuck', destination: gone, instance, source });
    const { daemon, hear, runtime } = await startDaemon(configOf(folder, [stuck]), { before: overdue(stuck) });
    await hear('payload.waiting', { job: 'stuck' });
    await daemon.adopt(config);
    await hear('config.stranded', { destination: 'old', payloads: 1 });
    expect(await runtime.store.outbox.inState('owed')).toMatchObject([{ job: 'stuck', destination: 'old' }]);
    await daemon.adopt(configOf(folder, [{ ...stuck, destination: { ...gone, url: service.url } }]));
    await hear('payload.delivered', { job: 'stuck' });
  });

  it("doesn't prevent the delivery of a removed job's owed payloads if their destination still exists", async () => {
    const { folder, job, service, instance, destination } = await setUp();
    const closed = { ...destination, url: 'http://127.0.0.1:1/api/1.0' };
    const first = configOf(folder, [{ ...job, destination: closed }]);
    const { daemon, hear } = await startDaemon(first, { before: overdue(job) });
    await hear('payload.waiting');
    await daemon.adopt(configOf(folder, [], [destination]));
    await hear('payload.delivered', { job: 'orders' });
    expect(await service.data(instance)).toBe('value\nhello\n');
  });

  it("leaves the previous config active, including its deliveries, if it can't be activated", async () => {
    const { folder, config, service, instance, destination } = await setUp();
    const clock = clockAtHalfPast();
    const { daemon, hear, runtime } = await startDaemon(config, { clock });
    vi.spyOn(runtime.store.accountHistory, 'track').mockRejectedValueOnce(new Error('disk I/O error'));
    await expect(daemon.adopt(configOf(folder, [], [destination]))).rejects.toThrow('disk I/O error');
    clock.wall += hour;
    await hear('payload.delivered');
    expect(await service.data(instance)).toBe('value\nhello\n');
  });

  it("has no effect on a daemon that is stopping, and doesn't prevent the stop", async () => {
    const silence = await openSilence();
    const { folder, config, source, instance } = await setUp();
    const job = jobOf({ name: 'orders', destination: destinationOf(silence.url), instance, source });
    const { daemon, count, stop } = await startDaemon(configOf(folder, [job]), { before: overdue(job) });
    await until('the upload to hang', () => silence.requests() === 1);
    const adopting = daemon.adopt(config);
    await wait(50);
    await stop();
    await adopting;
    expect(count('config.reloaded')).toBe(0);
  });

  it('is applied after all earlier ones, in order, and ends up as the active one', async () => {
    const { folder, config, destination, service, source } = await setUp();
    const { daemon, runtime, heard } = await startDaemon(config);
    const next = jobOf({ name: 'stock', destination, instance: await service.instance(), source });
    await Promise.all([
      daemon.adopt(configOf(folder, [])),
      daemon.adopt(config),
      daemon.adopt(configOf(folder, [next])),
    ]);
    expect(heard.filter(({ name }) => name === 'config.reloaded').map(({ facts }) => facts.jobs)).toEqual([0, 1, 1]);
    expect((await runtime.store.schedules.all()).map((row) => row.job)).toEqual(['stock']);
  });
});

describe('a shutdown', () => {
  it('takes only seconds even if a source hangs, and the next start runs the job again', async () => {
    const { config, job, source, service, instance } = await setUp();
    source.says = gate().says;
    const first = await startDaemon(config, { before: overdue(job) });
    await until('the source to hang', () => source.asked === 1);
    await first.stop();
    source.says = async () => 'second life';
    const second = await startDaemon(config);
    await second.hear('payload.delivered');
    expect(await service.data(instance)).toBe('value\nsecond life\n');
    expect((await second.runtime.store.runs.history({ limit: 9 })).map((run) => run.state).reverse()).toEqual([
      'interrupted',
      'delivered',
    ]);
  });

  it('takes only seconds even if an upload hangs, and the next start sends the payload', async () => {
    const silence = await openSilence();
    const { folder, config, job, source, service, instance } = await setUp();
    const hanging = { ...job, destination: destinationOf(silence.url, { timeoutMs: 3_600_000 }) };
    const first = await startDaemon(configOf(folder, [hanging]), { before: overdue(job) });
    await until('the upload to hang', () => silence.requests() === 1);
    await first.stop();
    const second = await startDaemon(config);
    await second.hear('payload.delivered');
    expect(await service.data(instance)).toBe('value\nhello\n');
    expect(source.asked).toBe(1);
  });

  it('leaves queued runs to the next start', async () => {
    const { folder, destination, service } = await setUp();
    const busy = new Source();
    busy.says = gate().says;
    const jobs = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map(async (name) =>
        jobOf({ name, destination, instance: await service.instance(), source: busy }),
      ),
    );
    const config = configOf(folder, jobs);
    const first = await startDaemon(config, { before: overdue(...jobs) });
    await until('all concurrent runs to start', () => busy.open === 4);
    await first.stop();
    expect(first.count('run.started')).toBe(4);
    busy.says = async () => 'now';
    const second = await startDaemon(config);
    await until('all payloads to be delivered', () => second.count('payload.delivered') === 6);
  });
});
