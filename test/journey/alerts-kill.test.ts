import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openReceiver, type Received, secret } from '../alerts/receiver.ts';
import { handOf, seeds } from '../chaos/seeds.ts';
import { adminKey, makeWorld, type World } from './world.ts';

/** A home with one job, which fails, and a webhook. */
async function failingHome(world: World) {
  const home = await world.home();
  const receiver = await openReceiver();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    alerts: { channels: { ops: { type: 'webhook', url: receiver.url, secret } } },
    jobs: { orders: { source: 'files', query: 'gone.csv', format: 'csv', target: world.instances.csv } },
  });
  return { home, receiver };
}

const idOf = ({ text }: Received): string => (JSON.parse(text) as { data: { id: string } }).data.id;

describe('a failure alert', () => {
  it.for(seeds)('is sent even if the process is killed at any step after the failure (seed %i)', async (seed) => {
    const world = await makeWorld({ serve: ['--no-limits'] });
    const { home } = await failingHome(world);
    const file = join(home.folder, 'steps');
    const watched = { preload: ['die-at-step'], env: { STEPS_FILE: file, STEPS_UNDER: join(home.folder, 'state') } };
    await home.sync(watched);
    const all = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
    const steps = all.slice(all.findIndex((step) => step.includes('run.finished')));
    expect(steps.some((step) => step.includes('alert.sending'))).toBe(true);
    for (const step of handOf(seed, steps)) {
      const { home: own, receiver } = await failingHome(world);
      const env = { DIE_AT: step, STEPS_UNDER: join(own.folder, 'state') };
      const killed = await own.sync({ preload: ['die-at-step'], env });
      expect(killed.signal, step).toBe('SIGKILL');
      await own.sync();
      expect(new Set(receiver.got.map(idOf)).size, step).toBe(1);
      expect(new Set(receiver.titles()), step).toEqual(new Set(['orders failed']));
      // Sent twice only if the webhook accepted it and the process died before recording that.
      expect(receiver.got.length, step).toBeLessThanOrEqual(2);
    }
  });
});
