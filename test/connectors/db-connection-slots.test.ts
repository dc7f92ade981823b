import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acquireSlot } from '../../connectors/db/connection-slots.ts';
import { describeWithServer } from '../servers/describe.ts';
import { countRows, extract, firstOf, problemOf } from './db-reader.ts';

const many = "select repeat('x', 1000) as fill from generate_series(1, 200000) i";

describeWithServer({ servers: 'PostgreSQL' }, 'jobs that read from one server', (server) => {
  let admin: pg.Client;
  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
  });
  afterAll(() => admin.end());

  const source = (connections: number) => ({ url: server().url, connections });
  const sessions = async () => {
    const count = "select count(*)::int as n from pg_stat_activity where application_name = 'sluice'";
    return (await admin.query(count)).rows[0].n as number;
  };

  it('use no more connections than allowed, and each job gets one eventually', async () => {
    let most = 0;
    const jobs = Array.from({ length: 8 }, async () => {
      const { batches } = await extract(source(2), 'select i from generate_series(1, 5000) i, pg_sleep(0.02)');
      most = Math.max(most, await sessions());
      return countRows(batches);
    });
    expect(await Promise.all(jobs)).toEqual(Array(8).fill(5000));
    expect(most).toBeLessThanOrEqual(2);
    await expect.poll(sessions).toBe(0);
  });

  it('release their slot if they end early, fail or are refused', async () => {
    const early = await firstOf(await extract(source(1), many));
    await early.return?.();
    const broken = await firstOf(await extract(source(1), many));
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'");
    await problemOf(
      (async () => {
        while ((await broken.next()).done !== true);
      })(),
    );
    await problemOf(extract(source(1), 'select nothing from nowhere'));
    await problemOf(extract(source(1), { sql: 'select 1.5::float8 as f', cursor: 'f' }));
    const { batches } = await extract(source(1), 'select 1 as one');
    expect(await countRows(batches)).toBe(1);
    await expect.poll(sessions).toBe(0);
  });

  it('release their slot if the run is stopped before anything is read', async () => {
    const stop = new AbortController();
    await extract(source(1), many, { signal: stop.signal });
    stop.abort(new Error('stopped'));
    const { batches } = await extract(source(1), 'select 1 as one');
    expect(await countRows(batches)).toBe(1);
    await expect.poll(sessions).toBe(0);
  });

  it("stop waiting immediately when the run is aborted, and don't block other jobs", async () => {
    const first = await firstOf(await extract(source(1), many));
    const stop = new AbortController();
    const second = extract(source(1), 'select 2 as n', { signal: stop.signal });
    const third = extract(source(1), 'select 3 as n');
    stop.abort(new Error('stopped'));
    await expect(second).rejects.toThrow('stopped');
    await first.return?.();
    expect(await countRows((await third).batches)).toBe(1);
    await expect.poll(sessions).toBe(0);
  });

  it('see no settings from an earlier session', async () => {
    const { batches } = await extract(source(1), "select set_config('sluice.mark', 'left behind', false) as mark");
    await countRows(batches);
    const next = await extract(source(1), "select 1 as n where current_setting('sluice.mark', true) is not null");
    expect(await countRows(next.batches)).toBe(0);
  });
});

it('slots are granted first in, first out, and a waiting job reports that it is alive', async () => {
  const order: number[] = [];
  let alive = 0;
  const ask = (n: number) =>
    acquireSlot({
      server: 'order',
      maxConnections: 1,
      signal: new AbortController().signal,
      alive: () => {
        alive++;
      },
    }).then((free) => {
      order.push(n);
      return free;
    });
  const free = await ask(0);
  const waiting = [1, 2, 3].map(async (n) => (await ask(n))());
  await expect.poll(() => alive).toBeGreaterThan(0);
  free();
  free();
  await Promise.all(waiting);
  expect(order).toEqual([0, 1, 2, 3]);
});
