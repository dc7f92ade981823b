import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { dayOf } from '../../src/delivery/quota.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { isOnServer, stateFor } from '../state/engines.ts';
import { cleanUp, newFolder, newStore } from '../state/fixtures.ts';
import type { Errand } from './child.ts';
import { closeStages, maxInASecond, openStage, type Stage, say } from './fixtures.ts';
import { withinOneDay } from './one-day.ts';

afterEach(async () => {
  await closeStages();
  await cleanUp();
});

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly results: [string, string][];
}

/** The arguments of Node for a process. */
const argsOf = (errand: Errand) => [
  join(import.meta.dirname, 'child.ts'),
  JSON.stringify({ ...stateFor(errand.folder), ...errand } satisfies Errand),
];

async function run(errand: Errand): Promise<Ended> {
  const child = spawn(process.execPath, argsOf(errand), {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 240_000,
    killSignal: 'SIGKILL',
  });
  let [told, error] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => {
    told += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    error += piece.toString();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  // Without this check, a process that the timeout killed would look like one that killed itself, and what it had not
  // enqueued yet would be missing without an explanation.
  if (child.killed || (signal !== null && errand.dieAt === undefined)) {
    throw new Error(`a process ended with ${signal}: ${error}`);
  }
  if (signal === null && code !== 0) throw new Error(`a process ended with ${code}: ${error}`);
  return { signal, results: told === '' ? [] : (JSON.parse(told) as [string, string][]) };
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const arrivals = (stage: Stage) => stage.seen.map(({ at }) => at);
const today = () => dayOf(Date.now());

describe('several processes with one state folder', () => {
  it('together never exceed five requests per sliding second or the daily limit, regardless of their wall clocks', async () => {
    await withinOneDay();
    const folder = newFolder();
    const stage = await openStage();
    const common = { folder, url: stage.url, requestsPerDay: 30, text: 'v1' };
    const ended = await Promise.all([
      run({ ...common, instances: names('a', 20) }),
      run({ ...common, instances: names('b', 20), skewMs: 40 }),
    ]);
    const states = ended.flatMap(({ results }) => results.map(([, state]) => state));
    const sent = stage.seen.map(({ path }) => path);
    // A request is counted but not sent if the machine is so busy that its slot was taken long ago.
    expect(sent.length).toBeLessThanOrEqual(30);
    expect(sent.length).toBeGreaterThan(20);
    expect(maxInASecond(arrivals(stage))).toBeLessThanOrEqual(5);
    expect(states).toContain('waiting_quota');
    expect(new Set(sent).size, 'nothing was sent twice').toBe(sent.length);
    const store = await newStore({ clock: systemClock, folder });
    expect(await store.quota.use('account', today())).toMatchObject({ used: 30 });
    expect(await store.outbox.inState('owed')).toHaveLength(40 - sent.length);
  });

  it('observe the rate limit while one of them is killed and restarted', async () => {
    const folder = newFolder();
    const stage = await openStage();
    const common = { folder, url: stage.url, requestsPerDay: 1_000, text: 'v1' };
    const steady = run({ ...common, instances: names('a', 20) });
    const rounds = isOnServer() ? 2 : 4;
    for (let round = 0; round < rounds; round++) {
      await run({ ...common, instances: names(`b${round}-`, 3), dieAt: 'request.answered' });
    }
    await steady;
    await run({ ...common, instances: [] });
    expect(maxInASecond(arrivals(stage))).toBeLessThanOrEqual(5);
    const store = await newStore({ clock: systemClock, folder });
    expect(await store.outbox.inState('owed')).toEqual([]);
    const reached = new Set(stage.seen.map(({ path }) => path));
    expect(reached.size).toBe(20 + rounds * 3);
  });

  it.skipIf(isOnServer())(
    'detect immediately that the sending process was killed, and send the payloads it owed',
    async () => {
      const folder = newFolder();
      const stage = await openStage();
      const common = { folder, url: stage.url, requestsPerDay: 1_000, text: 'v1' };
      await run({ ...common, instances: ['i'], dieAt: 'request.sent' });
      const { results } = await run({ ...common, instances: [] });
      expect(results).toEqual([['i', 'delivered']]);
    },
  );
});

describe('a process that is killed after any durable step and restarted', () => {
  const all = ['payload.owed', 'request.sent', 'upload.started', 'request.answered', 'payload.delivered'];
  // The fleet's kill matrix (test/chaos/kill-fleet) has all steps on a server.
  const steps = isOnServer() ? ['request.sent', 'request.answered'] : all;
  it.each(steps)('delivers exactly what was owed (killed at %s)', async (dieAt) => {
    const folder = newFolder();
    const stage = await openStage();
    const common = { folder, url: stage.url, requestsPerDay: 1_000, text: 'v1' };
    expect((await run({ ...common, instances: ['i'], dieAt })).signal).toBe('SIGKILL');
    const before = stage.seen.length;
    const { results } = await run({ ...common, instances: [] });
    expect(results).toEqual(dieAt === 'payload.delivered' ? [] : [['i', 'delivered']]);
    expect(stage.seen.length - before).toBe(dieAt === 'payload.delivered' ? 0 : 1);
    expect(stage.seen.at(-1)?.body).toBe('v1 i');
    const store = await newStore({ clock: systemClock, folder });
    expect(await store.outbox.inState('owed', 'dead')).toEqual([]);
    const paid = await store.quota.use('account', today());
    expect(paid.used, 'what arrived was charged').toBeGreaterThanOrEqual(stage.seen.length);
    expect(await run({ ...common, instances: ['i'] }), 'and it is known to be there').toMatchObject({ results: [] });
  });

  it("sends the whole body again if it was killed in the middle, and doesn't trust the old receipt", async () => {
    const folder = newFolder();
    const stage = await openStage();
    const common = { folder, url: stage.url, requestsPerDay: 1_000 };
    await run({ ...common, instances: ['i'], text: 'old' });
    stage.script.push((request) => {
      request.once('data', () => victim.kill('SIGKILL'));
    });
    const errand = argsOf({ ...common, instances: ['i'], text: 'x'.repeat(100_000) });
    const victim = spawn(process.execPath, errand, { stdio: 'ignore' });
    await once(victim, 'exit');
    stage.script.push(say(500));
    await run({ ...common, instances: [], text: '' });
    const again = await run({ ...common, instances: ['i'], text: 'old' });
    expect(again.results, 'the instance may show anything, so the old text is sent, too').toEqual([['i', 'delivered']]);
    expect(stage.seen.at(-1)?.body).toBe('old i');
  });
});
