import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Config, DatasourceDeclaration, Destination, Job } from '../../src/config/config.ts';
import { type ClientOf, planApply } from '../../src/delivery/apply.ts';
import { carryOutPlan } from '../../src/delivery/carry-out-plan.ts';
import { DestinationClient } from '../../src/delivery/client.ts';
import type { Gateway } from '../../src/delivery/gateway.ts';
import { refreshDatasources } from '../../src/delivery/refresh.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/service/service.ts';
import { cleanUp, newFolder, newStore } from '../state/fixtures.ts';
import {
  answer,
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  maxInASecond,
  openGateway,
  openStage,
  readBody,
  say,
} from './fixtures.ts';
import { withinOneDay } from './one-day.ts';

const services: RunningService[] = [];
const key = 'ab'.repeat(20);

afterEach(async () => {
  await closeStages();
  await Promise.all(services.splice(0).map((service) => service.close()));
  await cleanUp();
});

async function startEmbedded(more: { requests_per_day?: number } = {}): Promise<RunningService> {
  const company = {
    id: 'acme',
    name: 'Acme',
    plan: 'starter',
    ...more,
    users: [{ id: 'boss', email: 'boss@acme.test', role: 'Admin', api_keys: [key] }],
    groups: [{ id: 'team', name: 'Team', members: [] }],
    clients: [{ id: 'bakery', name: 'Bakery' }],
  };
  const fixtures = join(newFolder(), 'fixtures.json');
  writeFileSync(fixtures, JSON.stringify({ companies: [company] }));
  const service = await startService({ data: 'memory', fixtures });
  services.push(service);
  return service;
}

const signal = () => AbortSignal.timeout(200_000);

function clientsOf(gateway: Gateway): ClientOf {
  return ({ destination }) =>
    new DestinationClient({ gateway, gate: gateway.of(destination), priority: 'person', signal: signal() });
}

function declaring(destination: Destination, ...declarations: Partial<DatasourceDeclaration>[]): Config {
  const jobs = declarations.map((declaration, index): [string, Job] => {
    const whole = { name: `Source ${index}`, description: 'd', format: 'csv' as const, shares: [], ...declaration };
    const target = { kind: 'datasource' as const, declaration: whole };
    return [`job${index}`, { ...jobFor(destination, 'x', { name: `job${index}` }), target }];
  });
  return {
    file: '/config.yaml',
    folder: '/',
    state: '/state',
    destinations: new Map([[destination.name, destination]]),
    onStartError: 'ignore',
    concurrency: 4,
    sources: new Map(),
    jobs: new Map(jobs),
  };
}

async function world(more: Partial<Destination> = {}, limits = {}) {
  await withinOneDay();
  const service = await startEmbedded(limits);
  const store = await newStore({ clock: systemClock });
  const destination = destinationAt(service.url, { credentials: { kind: 'api_key', key }, ...more });
  const heard = listener();
  const gateway = openGateway({ store, destinations: [destination], emit: heard.emit });
  const client = clientsOf(gateway)({
    destination,
    clientId: undefined,
    declaration: { name: '', description: '', format: 'csv', shares: [] },
    jobs: [],
  });
  return { service, store, destination, gateway, client, heard };
}

function deliver(gateway: Gateway) {
  return deliverOwed({
    gateway,
    signal: signal(),
    priority: 'schedule',
  });
}

const kindsOf = (plan: { actions: readonly { kind: string }[] }) => plan.actions.map(({ kind }) => kind);

describe('apply', () => {
  it('creates, shares and records the declared data sources, and then finds nothing to do', async () => {
    const { store, destination, gateway, client } = await world();
    const config = declaring(
      destination,
      { name: 'Orders', shares: [{ group: 'team', canEdit: true }] },
      { name: 'Stock' },
    );
    const plan = await planApply(config, store, clientsOf(gateway));
    expect(kindsOf(plan)).toEqual(['create', 'share', 'create']);
    expect(await store.targets.all(), 'planning changes nothing').toEqual([]);
    await carryOutPlan(plan, { store, clientOf: clientsOf(gateway) });
    const again = await planApply(config, store, clientsOf(gateway));
    expect(kindsOf(again)).toEqual(['unchanged', 'unchanged']);
    expect(again.changes).toBe(false);
    const { data } = await client.call('GET', '/datasources');
    expect(data.datasources).toMatchObject([
      { name: 'Orders', refresh_interval: 0 },
      { name: 'Stock', refresh_interval: 0 },
    ]);
    const job = config.jobs.get('job0');
    if (job === undefined) throw new Error('no job');
    expect(await commitText(gateway, { job, text: 'a,b\r\n1,2\r\n' })).toMatchObject({ state: 'owed' });
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
  });

  it('updates a changed description and a changed share permission, and nothing else', async () => {
    const { store, destination, gateway } = await world();
    const before = declaring(destination, { name: 'Orders', shares: [{ group: 'team', canEdit: false }] });
    await carryOutPlan(await planApply(before, store, clientsOf(gateway)), { store, clientOf: clientsOf(gateway) });
    const shares = [{ group: 'team', canEdit: true }];
    const after = declaring(destination, { name: 'Orders', description: 'new', shares });
    const plan = await planApply(after, store, clientsOf(gateway));
    expect(kindsOf(plan)).toEqual(['update', 'share']);
    await carryOutPlan(plan, { store, clientOf: clientsOf(gateway) });
    expect(kindsOf(await planApply(after, store, clientsOf(gateway)))).toEqual(['unchanged']);
    const other = declaring(destination, { name: 'Orders', format: 'json' });
    await expect(planApply(other, store, clientsOf(gateway))).rejects.toMatchObject({ code: 'APPLY_FORMAT_CHANGED' });
  });

  it('with a new state, adopts data sources that an earlier apply created, but no others with the same name', async () => {
    const { store, destination, gateway, client } = await world();
    const body = { name: 'Orders', format: 'csv', connector: 'simple_rest', refresh_interval: 0 };
    await client.call('POST', '/datasources', { body: { ...body, properties: { endpoint_url: 'http://x/' } } });
    const config = declaring(destination, { name: 'Orders' });
    const plan = await planApply(config, store, clientsOf(gateway));
    expect(kindsOf(plan)).toEqual(['create']);
    expect(plan.actions[0]?.say).toContain('will not change');
    await carryOutPlan(plan, { store, clientOf: clientsOf(gateway) });
    const made = (await store.targets.all())[0];
    const newStoreOfState = await newStore({ clock: systemClock });
    const adopting = await planApply(config, newStoreOfState, clientsOf(gateway));
    expect(adopting.actions).toMatchObject([{ kind: 'adopt', datasource: made?.datasource }]);
    await carryOutPlan(adopting, { store: newStoreOfState, clientOf: clientsOf(gateway) });
    expect((await newStoreOfState.targets.all())[0]).toMatchObject({
      datasource: made?.datasource,
      instance: made?.instance,
    });
  });

  it('recreates a deleted data source, and reports it', async () => {
    const { store, destination, gateway, client } = await world();
    const config = declaring(destination, { name: 'Orders' });
    await carryOutPlan(await planApply(config, store, clientsOf(gateway)), { store, clientOf: clientsOf(gateway) });
    const id = (await store.targets.all())[0]?.datasource ?? '';
    await client.call('DELETE', `/datasources/${id}`);
    const plan = await planApply(config, store, clientsOf(gateway));
    expect(plan.actions).toMatchObject([{ kind: 'create', say: expect.stringContaining(`${id}, created earlier`) }]);
  });

  it("works in a client account, separately from the company's own", async () => {
    const { store, destination, gateway } = await world({ clientId: 'bakery' });
    const config = declaring(destination, { name: 'Orders' });
    await carryOutPlan(await planApply(config, store, clientsOf(gateway)), { store, clientOf: clientsOf(gateway) });
    expect(await store.targets.all()).toMatchObject([{ client_id: 'bakery', name: 'Orders' }]);
    const job = config.jobs.get('job0');
    if (job === undefined) throw new Error('no job');
    await commitText(gateway, { job, text: 'a\r\n1\r\n' });
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
  });

  it('rejects two different declarations of the same data source', async () => {
    const { store, destination, gateway } = await world();
    const config = declaring(destination, { name: 'Orders' }, { name: 'Orders', description: 'other' });
    await expect(planApply(config, store, clientsOf(gateway))).rejects.toMatchObject({ code: 'APPLY_DECLARED_TWICE' });
  });

  it('looks for a data source whose creation got no response instead of creating it again', async () => {
    const stage = await openStage();
    const store = await newStore({ clock: systemClock });
    const destination = destinationAt(stage.url);
    const gateway = openGateway({ store, destinations: [destination] });
    const created: string[] = [];
    stage.otherwise = async (request, response, seen) => {
      await readBody(request, seen);
      if (seen.method === 'POST') {
        created.push(seen.body);
        request.socket.destroy();
        return;
      }
      const properties = created.map((body) => (JSON.parse(body) as { properties: object }).properties)[0];
      const list = created.map((_, index) => ({ id: `made${index}`, name: 'Orders', description: 'd' }));
      const data = seen.path.endsWith('/datasources')
        ? { datasources: list }
        : seen.path.endsWith('/properties')
          ? { properties }
          : { format: 'csv' };
      answer(200, { data, meta: { total: list.length } })(request, response, seen);
    };
    const plan = await planApply(declaring(destination, { name: 'Orders' }), store, clientsOf(gateway));
    await carryOutPlan(plan, { store, clientOf: clientsOf(gateway) });
    expect(created).toHaveLength(1);
    expect(await store.targets.all()).toMatchObject([{ datasource: 'made0', instance: 'made0' }]);
  });
});

describe('a bulk refresh', () => {
  it('fails only for the refused data sources, even though the status is 200', async () => {
    const { gateway, destination, client, heard, store } = await world();
    const body = { name: 'A', format: 'csv', connector: 'simple_rest', refresh_interval: 0 };
    const { meta } = await client.call('POST', '/datasources', { body });
    const id = String(meta.location).split('/').at(-1) ?? '';
    const run = await store.runs.begin({ job: 'r', origin: 'person' });
    const given = { gateway, gate: gateway.of(destination), priority: 'person' as const, signal: signal(), run };
    const whole = await refreshDatasources({ ...given, datasources: [id] });
    expect(whole).toMatchObject({ requested: 1, queued: 1, failed: [] });
    expect(whole.problem).toBeUndefined();
    const part = await refreshDatasources({ ...given, datasources: [id, 'nobody'] });
    expect(part).toMatchObject({
      queued: 1,
      failed: [{ id: 'nobody', status: 404 }],
      problem: { code: 'REFRESH_PARTIAL', seen: expect.stringContaining('nobody') },
    });
    const none = await refreshDatasources({ ...given, datasources: ['nobody'] });
    expect(none).toMatchObject({ problem: { code: 'REFRESH_FAILED' } });
    expect(heard.names().filter((name) => name.startsWith('refresh.'))).toEqual([
      'refresh.queued',
      'refresh.failed',
      'refresh.queued',
      'refresh.failed',
    ]);
    expect(await store.runs.find(run)).toMatchObject({ requests: 3 });
  });
});

describe('an API call', () => {
  it('is retried if a repetition is harmless, and each attempt counts', async () => {
    const stage = await openStage();
    const store = await newStore({ clock: systemClock });
    const destination = destinationAt(stage.url, { requestsPerDay: 3 });
    const gateway = openGateway({ store, destinations: [destination] });
    const client = new DestinationClient({
      gateway,
      gate: gateway.of(destination),
      priority: 'person',
      signal: signal(),
    });
    stage.script.push(say(503), say(200, { data: { x: 1 } }));
    expect(await client.call('GET', '/profile')).toMatchObject({ data: { x: 1 } });
    stage.script.push(say(500));
    await expect(client.call('POST', '/datasources', { body: {} })).rejects.toMatchObject({ code: 'CALL_AMBIGUOUS' });
    await expect(client.call('GET', '/profile')).rejects.toMatchObject({ code: 'QUOTA_SPENT', family: 'quota' });
    expect(stage.seen).toHaveLength(3);
  });

  it('never sends more requests than its limit allows', async () => {
    const stage = await openStage();
    const store = await newStore({ clock: systemClock });
    const destination = destinationAt(stage.url);
    const gateway = openGateway({ store, destinations: [destination] });
    const client = new DestinationClient({
      gateway,
      gate: gateway.of(destination),
      priority: 'person',
      signal: signal(),
    });
    stage.otherwise = say(503, { code: 'busy', words: 'come back later' });
    const calling = client.call('GET', '/profile', { attempts: 2 });
    await expect(calling).rejects.toMatchObject({ code: 'DELIVERY_FAILED', message: expect.stringContaining('later') });
    expect(stage.seen).toHaveLength(2);
  });

  it("waits as long as the service asks, and fails with the service's message if it refuses", async () => {
    const stage = await openStage();
    const store = await newStore({ clock: systemClock });
    const destination = destinationAt(stage.url);
    const gateway = openGateway({ store, destinations: [destination] });
    const client = new DestinationClient({
      gateway,
      gate: gateway.of(destination),
      priority: 'person',
      signal: signal(),
    });
    stage.script.push(say(429, { code: 'rate_limited', headers: { 'retry-after': '1' } }));
    await client.call('POST', '/datasources', { body: {} });
    const [first, second] = stage.seen.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000);
    stage.script.push(say(429, { headers: { 'retry-after': '300' } }));
    await expect(client.call('GET', '/x')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 300_000 });
    await expect(client.call('GET', '/x')).rejects.toMatchObject({ code: 'ACCOUNT_PAUSED' });
    expect(stage.seen).toHaveLength(3);
  });

  it('reports which credentials are refused, and stops all calls with them', async () => {
    const { gateway, destination, service } = await world({
      credentials: { kind: 'api_key', key: 'f'.repeat(40) },
    });
    const client = new DestinationClient({
      gateway,
      gate: gateway.of(destination),
      priority: 'person',
      signal: signal(),
    });
    for (let call = 0; call < 2; call++) {
      await expect(client.call('GET', '/datasources')).rejects.toMatchObject({ code: 'LOGIN_NEEDED', family: 'login' });
    }
    expect(service.requestLog.entries).toHaveLength(1);
  });
});

describe('with the embedded service', () => {
  it("forty uploads cause no 429, and the service's own log shows at most five per second", async () => {
    const { service, store, destination, gateway } = await world();
    const config = declaring(destination, { name: 'A' }, { name: 'B' }, { name: 'C' }, { name: 'D' });
    await carryOutPlan(await planApply(config, store, clientsOf(gateway)), { store, clientOf: clientsOf(gateway) });
    for (let round = 0; round < 4; round++) {
      for (const job of config.jobs.values()) await commitText(gateway, { job, text: `a\r\n${round}\r\n` });
      expect((await deliver(gateway)).map(({ state }) => state)).toEqual(Array(4).fill('delivered'));
    }
    const { entries } = service.requestLog;
    expect(entries.filter(({ status }) => status === 429)).toEqual([]);
    expect(entries.length).toBeGreaterThanOrEqual(16);
    expect(maxInASecond(entries.map(({ arrived }) => arrived))).toBeLessThanOrEqual(5);
  });

  it('an allowance used up by other programs is detected after one refusal, and owed payloads wait', async () => {
    const { service, store, destination, gateway } = await world({}, { requests_per_day: 3 });
    const config = declaring(destination, { name: 'A' }, { name: 'B' });
    await carryOutPlan(await planApply(config, store, clientsOf(gateway)), { store, clientOf: clientsOf(gateway) });
    for (const job of config.jobs.values()) await commitText(gateway, { job, text: 'a\r\n1\r\n' });
    const results = await deliver(gateway);
    expect(results.map(({ state }) => state)).toEqual(['waiting_quota', 'waiting_quota']);
    const refused = service.requestLog.entries.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(refused.length).toBeLessThanOrEqual(2);
    await deliver(gateway);
    expect(service.requestLog.entries.filter(({ status }) => status === 429)).toHaveLength(refused.length);
    expect(await store.outbox.inState('owed')).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  });

  it("an invalid document becomes a dead payload with the service's message, and the old data stays visible", async () => {
    const { store, destination, gateway, client } = await world();
    const config = declaring(destination, { name: 'A', format: 'json' });
    await carryOutPlan(await planApply(config, store, clientsOf(gateway)), { store, clientOf: clientsOf(gateway) });
    const job = config.jobs.get('job0');
    if (job === undefined) throw new Error('no job');
    await commitText(gateway, { job, text: '[{"a":1}]' });
    await deliver(gateway);
    await commitText(gateway, { job, text: '[{"a":' });
    expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'DELIVERY_REFUSED' } }]);
    const { instance } = (await store.targets.all())[0] ?? { instance: '' };
    const kept = await client.call('GET', `/datasource-instances/${instance}`);
    expect(kept.data).toMatchObject({ data_size: 9 });
  });
});
