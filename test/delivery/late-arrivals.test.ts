import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { apiRequest } from '../../src/delivery/api-request.ts';
import type { Gateway } from '../../src/delivery/gateway.ts';
import { dayOf } from '../../src/delivery/quota.ts';
import type { RequestOutcome } from '../../src/delivery/retry.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/service/service.ts';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore } from '../state/fixtures.ts';
import type { Errand } from './child.ts';
import { closeStages, destinationAt, maxInASecond, openGateway, openStage, type Play } from './fixtures.ts';
import { closeWires, openWire, type Wire } from './wire.ts';

const services: RunningService[] = [];
const children: ChildProcess[] = [];
const key = 'ab'.repeat(20);

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await closeStages();
  await closeWires();
  await Promise.all(services.splice(0).map((service) => service.close()));
  await cleanUp();
});

/** The real service without limits, with instances to send to. Its log contains each request's arrival time. */
async function startEmbedded(instances = 0): Promise<{ service: RunningService; ids: string[] }> {
  const users = [{ id: 'boss', email: 'boss@acme.test', role: 'Admin', api_keys: [key] }];
  const fixtures = join(newFolder(), 'fixtures.json');
  writeFileSync(fixtures, JSON.stringify({ companies: [{ id: 'acme', name: 'Acme', plan: 'starter', users }] }));
  const service = await startService({ data: 'memory', fixtures, limits: false });
  services.push(service);
  const ids: string[] = [];
  for (let i = 0; i < instances; i++) {
    const body = JSON.stringify({ name: `Source ${i}`, format: 'csv', no_refresh: true });
    const headers = { 'kf-api-key': key, 'content-type': 'application/json' };
    const made = await fetch(`${service.url}/datasources`, { method: 'POST', headers, body });
    const { meta } = (await made.json()) as { meta: { instance_location: string } };
    ids.push(meta.instance_location.split('/').at(-1) ?? '');
  }
  return { service, ids };
}

/** Arrival times of requests with this method, from the service's own log (monotonic ms). */
const arrivalsAt = ({ requestLog }: RunningService, kind: 'GET' | 'PUT') =>
  requestLog.entries.filter(({ method }) => method === kind).map(({ arrived }) => arrived);

interface Sending {
  readonly clock: SteppingClock;
  readonly store: Store;
  readonly gateway: Gateway;
  /** Sends one request, and gives it up after a timeout without a response. */
  send(): Promise<RequestOutcome>;
  slot(): ReturnType<Store['sendSlots']['take']>;
}

async function sendingTo(url: string, wall?: number, timeoutMs = 2_000): Promise<Sending> {
  const clock = new SteppingClock(wall, { manual: true });
  const store = await newStore({ clock });
  const destination = destinationAt(url, { credentials: { kind: 'api_key', key }, timeoutMs });
  const gateway = openGateway({ store, destinations: [destination], clock });
  const gate = gateway.of(destination);
  const [method, path] = ['GET', '/profile'] as const;
  const signal = new AbortController().signal;
  return {
    clock,
    store,
    gateway,
    async send() {
      const passed = await gate.send({
        method,
        path,
        priority: 'schedule',
        prepare: async () => true,
        send: (_, beforeSent) => apiRequest({ gateway, gate, method, path, signal, beforeSent }),
      });
      if (passed === 'idle' || 'closed' in passed) throw new Error('nothing was sent');
      return passed;
    },
    slot: () => store.sendSlots.take('account', 5),
  };
}

const all = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make));

describe('an abandoned request', () => {
  async function stalled(wall?: number): Promise<Sending & { service: RunningService; wire: Wire }> {
    const { service } = await startEmbedded();
    const wire = await openWire(service.url);
    wire.hold();
    const sending = await sendingTo(wire.url, wall);
    const outcomes = await all(5, sending.send);
    expect(outcomes).toEqual(Array(5).fill({ error: expect.anything() }));
    return { ...sending, service, wire };
  }

  it('keeps its slot until the other side has closed the connection', async () => {
    const { clock, slot, send, service, wire } = await stalled();
    clock.advance(14_000);
    expect(await slot()).toEqual({ freeInMs: undefined, restsForMs: 17_012 });
    wire.open();
    await expect.poll(slot).toEqual({ freeInMs: 1_012 });
    expect(arrivalsAt(service, 'GET')).toHaveLength(5);
    clock.advance(1_012);
    expect(await send()).toMatchObject({ answer: { status: 200 } });
  });

  it('keeps its slot only as long as it may still arrive', async () => {
    const { clock, slot } = await stalled();
    clock.advance(29_000);
    expect(await slot()).toEqual({ freeInMs: undefined, restsForMs: 2_012 });
    clock.advance(2_012);
    expect(await slot()).toHaveProperty('ticket');
  });

  it('also counts on the next day if it may arrive then', async () => {
    const evening = Date.parse('2026-06-16T03:59:50Z');
    const { store } = await stalled(evening);
    expect(await store.quota.use('account', dayOf(evening))).toMatchObject({ used: 5 });
    expect(await store.quota.use('account', dayOf(evening + 20_000))).toMatchObject({ used: 5 });
  });

  it('keeps its slot after a clean shutdown of its process, unlike a request that got a response', async () => {
    const { gateway, store, slot, clock, wire } = await stalled();
    await gateway.close();
    clock.advance(14_000);
    expect(await slot()).toEqual({ freeInMs: undefined, restsForMs: 17_012 });
    wire.open();
    const quick = await sendingTo(wire.url, undefined, 60_000);
    await all(5, quick.send);
    await quick.gateway.close();
    expect(await quick.slot()).toEqual({ freeInMs: 1_012 });
    await store.close();
  });

  const ends: [string, Play][] = [
    ['resets', (request) => void request.socket.resetAndDestroy()],
    ['ends', (request) => void request.socket.end()],
  ];
  it.each(ends)('can no longer arrive if the other side %s the connection', async (_what, play) => {
    const stage = await openStage();
    stage.otherwise = play;
    const { send, slot } = await sendingTo(stage.url, undefined, 60_000);
    expect(await all(5, send)).toEqual(Array(5).fill({ error: expect.anything() }));
    expect(await slot()).toEqual({ freeInMs: 1_012 });
  });

  it('may still arrive if the connection broke on our side', async () => {
    const { service } = await startEmbedded();
    const wire = await openWire(service.url);
    const { send, slot } = await sendingTo(wire.url, undefined, 60_000);
    const ours: Socket[] = [];
    const note = (message: unknown) => void ours.push((message as { socket: Socket }).socket);
    subscribe('net.client.socket', note);
    wire.hold();
    const sending = all(5, send);
    await wire.loaded(5);
    unsubscribe('net.client.socket', note);
    for (const socket of ours) socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
    expect(await sending).toEqual(Array(5).fill({ error: expect.objectContaining({ code: 'ETIMEDOUT' }) }));
    expect(await slot()).toEqual({ freeInMs: undefined, restsForMs: 31_012 });
  });

  it('counts as never sent if there was no connection yet', async () => {
    const stage = await openStage();
    await stage.close();
    const { send, slot } = await sendingTo(stage.url);
    expect(await send()).toMatchObject({ error: { code: 'ECONNREFUSED' } });
    expect(await slot()).toHaveProperty('ticket');
  });
});

describe('processes that are killed during requests', () => {
  it('never send more than five requests per second, even together with their successors', async () => {
    const folder = newFolder();
    const { service, ids } = await startEmbedded(10);
    const wire = await openWire(service.url);
    const start = (instances: string[], more: Partial<Errand> = {}) => {
      const errand: Errand = { folder, url: wire.url, key, requestsPerDay: 1_000, text: 'v1', instances, ...more };
      const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), JSON.stringify(errand)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      children.push(child);
      return child;
    };
    const kill = async (child: ChildProcess) => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
    wire.hold();
    const first = start(ids.slice(0, 2));
    await wire.loaded(2);
    await kill(first);
    const second = start(ids.slice(2, 5));
    await wire.loaded(5);
    await kill(second);
    const third = start(ids.slice(5));
    // If the process considered the slots free, these few seconds would be enough to send.
    await wait(4_000);
    wire.open();
    await expect.poll(() => arrivalsAt(service, 'PUT').length).toBeGreaterThanOrEqual(5);
    await wait(1_012);
    await kill(third);
    // According to the new process's clock, nothing can be in transit any more.
    const [code] = await once(start([], { laterMs: 60_000 }), 'exit');
    expect(code).toBe(0);
    expect(maxInASecond(arrivalsAt(service, 'PUT'))).toBeLessThanOrEqual(5);
    const store = await newStore({ clock: systemClock, folder });
    expect(await store.outbox.inState('owed', 'dead')).toEqual([]);
  });
});
