import { afterEach, describe, expect, it } from 'vitest';
import { type BatchedRefresh, RefreshBatcher } from '../../src/delivery/refresh-batcher.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import { closeStages, destinationAt, listener, openGateway, openStage, say } from './fixtures.ts';

afterEach(async () => {
  await closeStages();
  await cleanUp();
});

async function setUp() {
  const store = await newStore({ clock: systemClock });
  const stage = await openStage();
  stage.otherwise = say(200, { data: { op_requested: 'refresh', success: true, total_instances_queued: 2 } });
  const destinations = [destinationAt(stage.url), destinationAt(stage.url, { name: 'other' })];
  const heard = listener();
  const gateway = openGateway({ store, destinations, emit: heard.emit });
  const desk = new RefreshBatcher();
  const wish = async (datasources: string[], more: Partial<BatchedRefresh> & { to?: string } = {}) => {
    const { to = 'main', ...rest } = more;
    const run = await store.runs.begin({ job: datasources.join('-'), origin: 'schedule' });
    const gate = gateway.find(to)!;
    const signal = new AbortController().signal;
    return { gateway, gate, datasources, priority: 'schedule', rank: 1, signal, run, ...rest } satisfies BatchedRefresh;
  };
  const bodies = () => stage.seen.map(({ body }) => JSON.parse(body) as { datasources: string[]; client_id?: string });
  return { store, stage, desk, wish, bodies, heard };
}

describe('refreshes due at the same time', () => {
  it('are sent as one request that names each data source once and is charged to one run', async () => {
    const { store, desk, wish, bodies, heard } = await setUp();
    const wishes = [await wish(['a', 'b']), await wish(['b', 'c']), await wish(['d'])];
    const seats = wishes.map(() => desk.join());
    const results = await Promise.all(wishes.map((one, i) => seats[i]!.refresh(one)));
    expect(bodies()).toEqual([{ datasources: ['a', 'b', 'c', 'd'] }]);
    expect(results.map(({ requested, problem }) => [requested, problem])).toEqual([
      [2, undefined],
      [2, undefined],
      [1, undefined],
    ]);
    const paid = await Promise.all(wishes.map(({ run }) => store.runs.find(run)));
    expect(paid.map((run) => run?.requests)).toEqual([1, 0, 0]);
    expect(heard.names().filter((name) => name.startsWith('refresh.'))).toEqual(['refresh.queued']);
  });

  it('fail only for the jobs whose data sources the service refuses', async () => {
    const { stage, desk, wish } = await setUp();
    const invalid_datasources = { b: { error: 'Data source not found: b', status: 404, success: false } };
    const data = { success: true, total_instances_queued: 2, failed_results: { description: '', invalid_datasources } };
    stage.script.push(say(200, { data }));
    const wishes = [await wish(['a']), await wish(['b']), await wish(['b', 'c'])];
    const seats = wishes.map(() => desk.join());
    const [a, b, c] = await Promise.all(wishes.map((one, i) => seats[i]!.refresh(one)));
    expect(a).toMatchObject({ failed: [], queued: 1 });
    expect(a).not.toHaveProperty('problem');
    expect(b?.problem).toMatchObject({ code: 'REFRESH_FAILED', seen: expect.stringContaining('not found: b') });
    expect(c?.problem).toMatchObject({ code: 'REFRESH_PARTIAL' });
    expect(c?.failed.map(({ id }) => id)).toEqual(['b']);
  });

  it("fail for all jobs if the service refuses without naming data sources, or doesn't respond", async () => {
    const { stage, desk, wish } = await setUp();
    stage.script.push(say(200, { data: { success: false } }), say(400, { code: 'bad_request' }));
    for (const _ of ['named none', 'refused']) {
      const wishes = [await wish(['a']), await wish(['b'])];
      const seats = wishes.map(() => desk.join());
      const ends = await Promise.allSettled(wishes.map((one, i) => seats[i]!.refresh(one)));
      const codes = ends.map((end) => (end.status === 'fulfilled' ? end.value.problem?.code : end.reason.code));
      expect(codes[0]).toMatch(/REFRESH_FAILED|DELIVERY_REFUSED/);
      expect(codes[1]).toBe(codes[0]);
    }
    expect(stage.seen).toHaveLength(2);
  });

  it('are sent separately per destination and client account', async () => {
    const { desk, wish, bodies } = await setUp();
    const wishes = [
      await wish(['a']),
      await wish(['b'], { clientId: 'c1' }),
      await wish(['c'], { to: 'other' }),
      await wish(['d'], { clientId: 'c1' }),
    ];
    const seats = wishes.map(() => desk.join());
    await Promise.all(wishes.map((one, i) => seats[i]!.refresh(one)));
    expect(bodies().toSorted((a, b) => (a.datasources[0]! < b.datasources[0]! ? -1 : 1))).toEqual([
      { datasources: ['a'] },
      { datasources: ['b', 'd'], client_id: 'c1' },
      { datasources: ['c'] },
    ]);
  });

  it('are sent separately if a user waits for some of them', async () => {
    const { desk, wish, bodies } = await setUp();
    const wishes = [await wish(['a']), await wish(['b'], { priority: 'person' }), await wish(['c'])];
    const seats = wishes.map(() => desk.join());
    await Promise.all(wishes.map((one, i) => seats[i]!.refresh(one)));
    expect(
      bodies()
        .map(({ datasources }) => datasources.join())
        .toSorted(),
    ).toEqual(['a,c', 'b']);
  });

  it("don't wait for jobs that cancel before they request anything", async () => {
    const { desk, wish, bodies } = await setUp();
    const [first, second] = [desk.join(), desk.join()];
    const asked = first.refresh(await wish(['a']));
    second.cancel();
    second.cancel();
    await asked;
    await desk.join().refresh(await wish(['b']));
    expect(bodies().map(({ datasources }) => datasources)).toEqual([['a'], ['b']]);
  });

  it('can be aborted individually, and their request is aborted with the last one', async () => {
    const { stage, desk, wish } = await setUp();
    const arrived = Promise.withResolvers<void>();
    stage.otherwise = () => arrived.resolve();
    const [one, two] = [new AbortController(), new AbortController()];
    const wishes = [await wish(['a'], { signal: one.signal }), await wish(['b'], { signal: two.signal })];
    const seats = wishes.map(() => desk.join());
    const ends = wishes.map((each, i) => seats[i]!.refresh(each).catch((reason: unknown) => reason));
    await arrived.promise;
    one.abort('first');
    expect(await ends[0]).toBe('first');
    two.abort('second');
    expect(await ends[1]).toBe('second');
    expect(stage.seen).toHaveLength(1);
  });
});
