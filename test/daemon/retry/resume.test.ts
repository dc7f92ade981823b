import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sendJson, TestServer } from '../../connectors/http-server.ts';
import { readReal } from './real.ts';
import { hour, minute, noon, openWorld, second } from './world.ts';

/** A daemon whose job reads an API with five pages of one record, the third of which fails a number of times. */
async function waiting({ failures = 1 } = {}) {
  const world = await openWorld(noon - minute);
  const server = await new TestServer().start();
  onTestFinished(() => server.stop());
  let left = failures;
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('cursor') ?? 1);
    if (page === 3 && left-- > 0) return void response.writeHead(503).end();
    sendJson(response, { data: [{ id: page }], next: page < 5 ? page + 1 : null });
  };
  const configOf = async (more: object = {}) => {
    const query = { path: '/x', records: 'data', paging: { kind: 'cursor', cursor: 'next' }, resume: true, ...more };
    const source = { connector: 'simple_rest', url: server.url, retries: 0 };
    return (await readReal(world, { source, query })).config;
  };
  const config = await configOf();
  const life = await world.live(config, { durable: true });
  await world.pass(minute + 2 * second);
  const asked = () => server.requests.splice(0).map(({ url }) => url);
  expect(asked()).toEqual(['/x', '/x?cursor=2', '/x?cursor=3']);
  const kept = join(life.runtime.store.folder, 'attempts');
  expect(readdirSync(kept)).toHaveLength(1);
  return { ...world, ...life, config, configOf, asked, kept };
}

const onward = ['/x?cursor=3', '/x?cursor=4', '/x?cursor=5'];

it('a retry continues after the pages of the failed attempt, and nothing is kept after the run', async () => {
  const { pass, asked, runtime, kept } = await waiting();
  await pass(hour);
  expect(asked()).toEqual(onward);
  const [run, ...others] = await runtime.store.runs.history({ limit: 9 });
  expect(others).toEqual([]);
  expect(run).toMatchObject({ state: 'delivered', attempts: 2, row_count: 5 });
  expect(run!.warnings).toContain('REST_RESUMED');
  // The data is as old as its oldest page.
  expect((await runtime.store.receipts.all())[0]!.as_of).toBeLessThan(noon + second);
  expect(existsSync(kept)).toBe(false);
});

it('pages are kept over a restart of the daemon', async () => {
  const { stop, live, pass, config, asked, kept } = await waiting();
  await stop();
  expect(readdirSync(kept)).toHaveLength(1);
  await live(config, { durable: true });
  await pass(hour);
  expect(asked()).toEqual(onward);
  expect(existsSync(kept)).toBe(false);
});

it('pages are forgotten if the job has changed', async () => {
  const { daemon, clock, pass, configOf, asked, kept } = await waiting();
  await clock.drive(daemon.adopt(await configOf({ parameters: [{ name: 'since', value: '2026' }] })));
  await pass(hour);
  expect(asked()).toHaveLength(5);
  expect(existsSync(kept)).toBe(false);
});

it('pages are deleted with the next run if their own run has ended while it waited', async () => {
  const { clock, runtime, pass, asked, kept } = await waiting();
  const hold = { who: 'ann', why: 'a look at the data' };
  await clock.drive(runtime.store.holds.set('job0', hold));
  await pass(hour);
  expect(asked()).toEqual([]);
  await clock.drive(runtime.store.attemptFiles.sweep());
  expect(existsSync(kept)).toBe(false);
});
