import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { adminKey, forSuite } from '../journey/world.ts';
import { handOf, randomOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/**
 * What the network and the service do to the next uploads (docs/service-control.md). This leaves out a service that
 * executes a request long after its client has given up, and after a later request: no client could handle that.
 */
const faults: readonly object[] = [
  { first: 4, answer: { status: 429, headers: { 'Retry-After': '1' } } },
  { first: 1, answer: { status: 503 } },
  { first: 1, reset: 'before_body' },
  { first: 1, reset: 'after_body' },
  { first: 1, reset: 'after_effect' },
  { first: 2, truncate: { after_bytes: 5 } },
  { first: 1, drip: { bytes: 3, every_ms: 20 } },
  { first: 1, drip: { bytes: 1, every_ms: 400 } },
  { first: 1, answer_delay_ms: 8000 },
];
const clocks = [0, 0, 24, -24, 1, -1];
/** Three consecutive seeds cover every fault and every clock. */
const weatherOf = (seed: number) => {
  const shifts = [...handOf(seed, clocks), 0];
  return handOf(seed, faults).map((fault, i) => ({ fault, shift: shifts[i]! }));
};
const hour = 60 * 60 * 1000;

describe('uploads through a faulty network, by processes whose clocks are a day off in either direction', () => {
  it.for(seeds)('show only complete versions, never an older one, and lose nothing (seed %i)', async (seed) => {
    const random = randomOf(500 + seed);
    const one = <T>(things: readonly T[]): T => things[Math.floor(random() * things.length)]!;
    const stage = await setStage(theatre, { destination: { timeout_seconds: 3, attempts: 20 } });
    const { upstream, home, oracle, control, instance } = stage;
    upstream.prunes = seed % 2 === 0;
    const more = Array.from({ length: 2 }, () => ({ fault: one(faults), shift: one(clocks) }));
    for (const { fault, shift: hours } of [...weatherOf(seed), ...more]) {
      if (upstream.prunes || random() < 0.8) upstream.advance({ large: random() < 0.5 });
      await control.break(instance, fault);
      const shift = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: String(hours * hour) } };
      const kills = random() < 0.3 ? dieAt(stage, one(['say request.answered #1', 'read payload #2'])) : {};
      const how = { preload: [...shift.preload, ...(kills.preload ?? [])], env: { ...shift.env, ...kills.env } };
      const ended = await home.sync({ args: ['--wait', random() < 0.5 ? '0' : '20'], ...how });
      await oracle.ended(ended);
      await control.repair();
    }
    await oracle.rest();
  });
});

it('rows that the service accepted are never replaced by older ones, even if its response was lost', async () => {
  const stage = await setStage(theatre);
  const { upstream, home, oracle, control, instance } = stage;
  upstream.advance();
  await control.break(instance, { reset: 'after_effect' });
  const unsure = await home.sync({ args: ['--wait', '0'] });
  expect(unsure.jobs).toMatchObject([{ state: 'waiting_retry' }]);
  expect(await oracle.ended(unsure), 'it arrived, but that is unknown').toBe(1);
  await control.repair();
  upstream.advance();
  const sure = await home.sync();
  expect(sure.jobs).toMatchObject([{ state: 'delivered', requests: 1 }]);
  expect(await oracle.ended(sure)).toBe(2);
  await oracle.rest();
});

it('an upload to a service that accepts the connection but reads nothing times out, and no data is lost', async () => {
  const hole = createServer((socket) => void socket.pause().on('error', () => undefined));
  hole.listen(0, '127.0.0.1');
  await once(hole, 'listening');
  onTestFinished(() => void hole.close());
  const url = `http://127.0.0.1:${(hole.address() as AddressInfo).port}/api/1.0`;
  const stage = await setStage(theatre, { url, destination: { timeout_seconds: 1, attempts: 20 } });
  const { upstream, home, oracle, world, instance } = stage;
  upstream.prunes = true;
  upstream.advance({ large: true });
  const stuck = await home.sync({ args: ['--wait', '3'] });
  expect(stuck.jobs).toMatchObject([{ state: 'waiting_retry', problem: { code: 'DELIVERY_NO_ANSWER' } }]);
  await oracle.ended(stuck);
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { api: { connector: 'simple_rest', url: upstream.url } },
    jobs: { rows: { source: 'api', query: '/rows.csv', format: 'csv', target: instance } },
  });
  await oracle.rest();
  expect(await oracle.look(), 'the payload was the only copy').toBe(1);
});
