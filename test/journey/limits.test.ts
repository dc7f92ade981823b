import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { withinOneDay } from '../delivery/one-day.ts';
import { openFaultProxy } from './fault-proxy.ts';
import type { Home } from './home.ts';
import { makeFolder } from './process.ts';
import { adminKey, busiestWindow, forSuite, type Logged, makeWorld, until, type World } from './world.ts';

const perSecond = 5;
const scope = forSuite();
/** More instances than one process per test could fill in two seconds. */
const instances: string[] = [];
let world: World;

/** The instances are created without rate limits; then the service restarts with its limits. */
beforeAll(async () => {
  const data = await makeFolder(scope);
  const before = await makeWorld({ scope, data, serve: ['--no-limits'] });
  for (let made = 0; made < 36; made++) instances.push(await before.instance('csv'));
  await before.stop();
  world = await makeWorld({ scope, data, instances: before.instances });
});

/** A home with jobs `job-0`, `job-1` and so on, each of which writes a line with its name to its own instance. */
async function jobsFor(
  home: Home,
  { only = instances, limits = {}, url = world.url }: { only?: string[]; limits?: object; url?: string } = {},
) {
  const jobs: Record<string, object> = {};
  for (const [i, target] of only.entries()) {
    await home.write(`${i}.csv`, `id,name\n${i},${target}\n`);
    // Every third job uses another destination name for the same account, which has one allowance under all names.
    const destination = i % 3 === 2 ? 'again' : 'main';
    jobs[`job-${i}`] = { source: 'files', query: `${i}.csv`, format: 'csv', target, destination };
  }
  const destination = { url, api_key: adminKey, ...limits };
  await home.config({
    destinations: { main: destination, again: destination },
    sources: { files: { connector: 'file' } },
    jobs,
  });
  return Object.keys(jobs);
}

/** The uploads in the service's log that arrived after this time. */
async function uploadsSince(since: number): Promise<Logged[]> {
  return (await world.uploads()).filter(({ arrived }) => arrived > since);
}

const monotonic = () => Number(process.hrtime.bigint() / 1000n) / 1000;

function expectWithinLimits(uploads: readonly Logged[]): void {
  expect(uploads.filter(({ status }) => status !== 200)).toEqual([]);
  expect(busiestWindow(uploads.map(({ arrived }) => arrived))).toBeLessThanOrEqual(perSecond);
}

describe('several processes that share a state folder and an account', () => {
  it('never send more than five requests in any sliding second, so none is refused', async () => {
    await withinOneDay();
    const home = await world.home();
    const proxy = await openFaultProxy(world.url);
    const names = await jobsFor(home, { url: proxy.url });
    await wait(1100);
    const began = monotonic();
    const shares = [0, 1, 2].map((turn) => ({ jobs: names.filter((_, i) => i % 3 === turn) }));
    // On a busy machine, a process may start late, so one upload of each process is held until all of them have sent
    // something.
    const allSend = until('all processes to send', async () =>
      (await Promise.all(shares.map(({ jobs }) => hasArrived(jobs, began)))).every(Boolean),
    );
    for (const { jobs } of shares) proxy.script(instanceOf(jobs.at(-1)!), { after: allSend });
    const ended = await Promise.all(shares.map(({ jobs }) => home.sync({ args: jobs })));
    for (const { code, stdout, stderr } of ended) expect(code, stdout + stderr).toBe(0);
    const uploads = await uploadsSince(began);
    expectWithinLimits(uploads);
    expect(uploads).toHaveLength(36);
    for (const { jobs } of ended) {
      expect(jobs.map(({ state, requests }) => `${state} ${requests}`)).toEqual(Array(12).fill('delivered 1'));
    }
    // They worked in parallel: no process had to wait until another was done.
    const first = (jobs: readonly string[]) => arrivalsOf(uploads, jobs)[0]!;
    const last = (jobs: readonly string[]) => arrivalsOf(uploads, jobs).at(-1)!;
    for (const one of shares) for (const other of shares) expect(first(one.jobs)).toBeLessThan(last(other.jobs));
    expect(home.state().quota.map(({ used }) => used)).toEqual([36]);
    for (const [i, instance] of instances.entries()) {
      expect(await world.data(instance)).toBe(`id,name\n${i},${instance}\n`);
    }
  });

  it("don't delay each other, even if a daemon has a long queue and a user runs a command", async () => {
    const home = await world.home();
    const proxy = await openFaultProxy(world.url);
    const { url } = proxy;
    await withinOneDay();
    const names = await jobsFor(home, { url, limits: { requests_per_day: 1 } });
    const [owed, asked] = [names.slice(0, 24), names.slice(24)];
    await wait(1100);
    // Only one request is left on that day, so nearly everything is owed when the daemon starts.
    expect((await home.sync({ args: owed })).code).toBe(4);
    await jobsFor(home, { url });
    // The daemon's queue must not be empty before the command has started, however long that takes, so one of its
    // uploads waits.
    const last = home.state().outbox.find(({ state }) => state === 'owed')!.instance!;
    const began = monotonic();
    proxy.script(last, { after: until('the manual sync to send', () => hasArrived(asked, began)) });
    const daemon = home.start(['run'], { serves: true });
    await until('the daemon to send', async () => (await uploadsSince(began)).length > 0);
    const person = await home.sync({ args: asked });
    expect(person.code).toBe(0);
    await until('the daemon to deliver all payloads', () =>
      home.state().outbox.every(({ state }) => state === 'delivered'),
    );
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    const uploads = await uploadsSince(began);
    expect(uploads).toHaveLength(23 + 12);
    expectWithinLimits(uploads);
    const [theirs, ours] = [arrivalsOf(uploads, owed), arrivalsOf(uploads, asked)];
    expect(ours[0]).toBeLessThan(theirs.at(-1)!);
    expect(theirs[0]).toBeLessThan(ours.at(-1)!);
  });

  it('run a job only once, and the second process reports which process runs it', async () => {
    const home = await world.home();
    const [name] = await jobsFor(home, { only: instances.slice(0, 1) });
    await home.write('0.csv', `id,name\n${Array.from({ length: 400_000 }, (_, i) => `${i},x\n`).join('')}`);
    await wait(1100);
    const began = monotonic();
    const both = await Promise.all([home.sync({ args: [name!] }), home.sync({ args: [name!] })]);
    const states = both.map(({ jobs }) => jobs[0]!.state).sort();
    // Nothing is sent twice, whether the second process starts before or after the end of the first.
    expect([
      ['busy', 'delivered'],
      ['delivered', 'unchanged'],
    ]).toContainEqual(states);
    const uploads = await uploadsSince(began);
    expect(uploads).toHaveLength(1);
    expectWithinLimits(uploads);
  });
});

const instanceOf = (job: string): string => instances[Number(job.slice('job-'.length))]!;

/** Whether an upload of one of these jobs has arrived since then. */
const hasArrived = async (jobs: readonly string[], since: number): Promise<boolean> =>
  arrivalsOf(await uploadsSince(since), jobs).length > 0;

/** Arrival times of these jobs' uploads, earliest first. */
function arrivalsOf(uploads: readonly Logged[], jobs: readonly string[]): number[] {
  const wanted = new Set<string | undefined>(jobs.map(instanceOf));
  const ofJobs = uploads.filter(({ path }) => wanted.has(path.split('/').at(-2)));
  return ofJobs.map(({ arrived }) => arrived).sort((a, b) => a - b);
}
