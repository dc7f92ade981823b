import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../src/config/config.ts';
import { startOfDay } from '../../src/delivery/quota.ts';
import { UsageWatch } from '../../src/delivery/usage-watch.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore } from '../state/fixtures.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openGateway,
  openStage,
  type Play,
  say,
} from './fixtures.ts';

const watches: UsageWatch[] = [];
const services: RunningService[] = [];

afterEach(async () => {
  await Promise.all(watches.splice(0).map((watch) => watch.stop()));
  await closeStages();
  await Promise.all(services.splice(0).map((service) => service.close()));
  await cleanUp();
});

const hour = 3_600_000;
const today = '2026-06-15';
const report = (used: string, limit = '5000', date = today): Play =>
  say(200, { data: { overview: [{ calendar_date: date, api_usage: used, api_limit: limit }] } });

async function setUp(more: Partial<Destination> = {}) {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const stage = await openStage();
  const destination = destinationAt(stage.url, { requestsPerDay: 5000, askUsage: true, ...more });
  const heard = listener();
  const gateway = openGateway({ store, destinations: [destination], clock, emit: heard.emit });
  /** Checks as a process does that has just started, and waits until the check is done. */
  const look = async () => {
    const watch = new UsageWatch(gateway);
    watches.push(watch);
    watch.look('account');
    await watch.idle();
  };
  const use = () => store.quota.use('account', today);
  const owe = (instance: string) => commitText(gateway, { job: jobFor(destination, instance), text: instance });
  const deliver = () => {
    const signal = AbortSignal.timeout(200_000);
    return deliverOwed({ gateway, signal, priority: 'schedule' });
  };
  return { clock, store, stage, destination, gateway, heard, look, use, owe, deliver };
}

describe("the service's count for an account", () => {
  it("includes other programs' requests, which reduce what we may send", async () => {
    const { clock, stage, heard, look, use, owe, deliver } = await setUp({ requestsPerDay: 10 });
    stage.script.push(report('8', '10'));
    await look();
    expect(stage.seen).toMatchObject([{ method: 'GET', path: '/api/1.0/usage-overview/api-usage' }]);
    const { query } = stage.seen[0]!;
    expect(Number(query.get('start_date')) * 1000).toBe(startOfDay(clock.now()));
    expect(Number(query.get('end_date')) * 1000).toBe(clock.now());
    expect(await use()).toMatchObject({ used: 8, others: 7, allowance: 10 });
    expect(heard.events.find(({ name }) => name === 'usage.reported')?.facts).toEqual({
      account: 'account',
      destination: 'main',
      day: today,
      used: 8,
      others: 7,
      allowance: 10,
    });
    for (const name of ['a', 'b', 'c']) await owe(name);
    const states = (await deliver()).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['delivered', 'delivered', 'waiting_quota']);
    expect(stage.seen).toHaveLength(3);
  });

  it('is requested at most once per hour by all processes together, and less often for small allowances', async () => {
    const { clock, stage, look } = await setUp();
    stage.otherwise = report('0');
    await Promise.all([look(), look(), look()]);
    expect(stage.seen).toHaveLength(1);
    clock.advance(hour - 1);
    await look();
    expect(stage.seen).toHaveLength(1);
    clock.advance(1);
    await look();
    expect(stage.seen).toHaveLength(2);
    clock.wall -= 3 * hour;
    await look();
    expect(stage.seen, 'a clock that was set back does not keep it waiting').toHaveLength(3);
    const small = await setUp({ requestsPerDay: 100 });
    small.stage.otherwise = report('0');
    for (let i = 0; i < 48; i++) {
      await small.look();
      small.clock.advance(hour);
    }
    expect(small.stage.seen.length).toBe(4);
  });

  it("isn't requested if the config disables it", async () => {
    const { stage, look } = await setUp({ askUsage: false });
    await look();
    expect(stage.seen).toEqual([]);
  });

  it.each([
    ['a permission', say(403, { code: 'forbidden', words: 'Needs account.api' })],
    ['a permission (401)', say(401, { code: 'permission_denied', words: 'Needs account.api' })],
    ['the report', say(404, { code: 'not_found', words: 'Needs account.api' })],
  ])(
    "isn't requested for a week if %s is missing, which is reported once and affects nothing else",
    async (_, play) => {
      const { clock, store, stage, heard, look, owe, deliver } = await setUp();
      stage.script.push(play);
      for (let i = 0; i < 100; i++) {
        await look();
        clock.advance(hour);
      }
      expect(stage.seen).toHaveLength(1);
      const said = heard.events.filter(({ name }) => name === 'usage.refused');
      expect(said).toMatchObject([{ facts: { destination: 'main', message: 'Needs account.api' } }]);
      expect(await store.usageChecks.find('account')).toMatchObject({ refused: 'Needs account.api' });
      await owe('a');
      expect(await deliver()).toMatchObject([{ state: 'delivered' }]);
      clock.advance(7 * 24 * hour);
      stage.script.push(report('0'));
      await look();
      expect(await store.usageChecks.find('account')).toMatchObject({ refused: null });
    },
  );

  it('closes the day if no requests are left', async () => {
    const { stage, look, owe, deliver } = await setUp();
    stage.script.push(say(429, { code: 'daily_limit_reached' }));
    await look();
    await owe('a');
    expect(await deliver()).toMatchObject([{ state: 'waiting_quota' }]);
    expect(stage.seen).toHaveLength(1);
  });

  it.each([
    ['no record for the day', report('900', '5000', '2026-06-14')],
    ['words instead of numbers', report('many')],
    ['no list', say(200, { data: { overview: 'none' } })],
    ['an error', say(500)],
    ['refused credentials', say(401, { code: 'auth_fail' })],
  ])('is unknown if the response is %s, which causes no delay', async (_, play) => {
    const { stage, look, use, owe, deliver } = await setUp();
    stage.script.push(play);
    await look();
    expect(await use()).toMatchObject({ used: 1, others: 0 });
    await owe('a');
    expect(await deliver()).toMatchObject([{ state: 'delivered' }]);
  });

  it('is requested sooner if refusals continue, and closes the day if it shows that no requests are left', async () => {
    const { clock, stage, gateway, heard, look, owe, deliver } = await setUp({ requestsPerDay: 50 });
    stage.script.push(report('3'));
    await look();
    const watch = new UsageWatch(gateway);
    watches.push(watch);
    await owe('a');
    stage.otherwise = (request, response, seen) =>
      (seen.method === 'GET' ? report('50', '50') : say(429, { code: 'rate_limited' }))(request, response, seen);
    const states: string[] = [];
    for (let i = 0; i < 6 && states.at(-1) !== 'waiting_quota'; i++) {
      states.push((await deliver())[0]!.state);
      const refusals = heard.events.filter(({ name }) => name === 'account.paused').length;
      watch.doubt('account', refusals);
      await watch.idle();
      clock.advance(10 * 60_000);
    }
    expect(states).toEqual(['waiting_retry', 'waiting_retry', 'waiting_retry', 'waiting_quota']);
    expect(stage.seen.filter(({ method }) => method === 'GET')).toHaveLength(2);
  });

  it("never gives requests back: a lower count is ignored, but a lower allowance isn't", async () => {
    const { store, use } = await setUp();
    await store.quota.take('account', [today], 100);
    await store.quota.reconcile('account', today, { reported: 50, allowance: 5000 });
    expect(await use()).toMatchObject({ used: 50, others: 49, allowance: 5000 });
    await store.quota.take('account', [today], 100);
    await store.quota.reconcile('account', today, { reported: 20, allowance: undefined });
    expect(await use()).toMatchObject({ used: 51, others: 49, allowance: 5000 });
    await store.quota.reconcile('account', today, { reported: 60, allowance: 55 });
    expect(await use()).toMatchObject({ used: 60, others: 58, allowance: 55 });
  });
});

it("the embedded service reports another client's usage, and we stop before it refuses requests", async () => {
  const [ours, theirs] = ['ab'.repeat(20), 'cd'.repeat(20)];
  const user = (id: string, key: string) => ({ id, email: `${id}@acme.test`, role: 'Admin', api_keys: [key] });
  const users = [user('one', ours), user('two', theirs)];
  const company = { id: 'acme', name: 'Acme', plan: 'starter', requests_per_day: 9, requests_per_second: 100, users };
  const fixtures = join(newFolder(), 'fixtures.json');
  writeFileSync(fixtures, JSON.stringify({ companies: [company] }));
  const service = await startService({ data: 'memory', fixtures });
  services.push(service);
  for (let i = 0; i < 7; i++) {
    expect((await fetch(`${service.url}/datasources`, { headers: { 'kf-api-key': theirs } })).status).toBe(200);
  }
  const store = await newStore({ clock: systemClock });
  const destination = destinationAt(service.url, { credentials: { kind: 'api_key', key: ours }, askUsage: true });
  const heard = listener();
  const gateway = openGateway({ store, destinations: [destination], emit: heard.emit });
  const watch = new UsageWatch(gateway);
  watches.push(watch);
  watch.look('account');
  await watch.idle();
  expect(heard.events.find(({ name }) => name === 'usage.reported')?.facts).toMatchObject({ others: 7, allowance: 9 });
  for (const name of ['a', 'b', 'c']) await commitText(gateway, { job: jobFor(destination, name), text: name });
  const signal = AbortSignal.timeout(200_000);
  const given = { gateway, signal } as const;
  const results = await deliverOwed({ ...given, priority: 'schedule' });
  expect(results.filter(({ state }) => state === 'waiting_quota')).toHaveLength(2);
  const statuses = heard.events.flatMap(({ name, facts }) =>
    name === 'request.answered' && 'status' in facts ? [facts.status] : [],
  );
  expect(statuses, 'the service had nothing to refuse').not.toContain(429);
});
