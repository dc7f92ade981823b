import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { openFaultProxy } from '../journey/fault-proxy.ts';
import { freeze } from '../journey/freeze.ts';
import { forSuite, type Running, until } from '../journey/world.ts';
import { dieAt, openTheatre, type Stage, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** Owes new rows, which any daemon may send. */
async function oweOne({ home, upstream, oracle }: Stage): Promise<void> {
  upstream.advance();
  const ended = await home.sync(dieAt({ home }, 'say payload.owed #1'));
  expect(ended.signal).toBe('SIGKILL');
  await oracle.ended(ended);
}

async function owingStage(): Promise<Stage> {
  const stage = await setStage(theatre);
  await oweOne(stage);
  return stage;
}

const says = (daemon: Running, what: string) => until(what, () => daemon.output().includes(what));

describe('with two daemons on the same state folder', () => {
  it("the second is rejected by default, and the first isn't affected", async () => {
    const stage = await owingStage();
    const { home, oracle } = stage;
    const first = home.start(['run'], { serves: true });
    await says(first, 'daemon.started');
    const { code, stderr } = await home.sluice(['run']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('DAEMON_RUNNING') });
    expect(stderr).toContain('--second wait');
    await until('the first rows to be shown', async () => (await oracle.look()) === 1);
    first.child.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0 });
  });

  it.for(['SIGKILL', 'SIGTERM'] as const)(
    'the second waits with --second wait, sends nothing meanwhile, and takes over when %s ends the first',
    async (signal) => {
      const stage = await owingStage();
      const { home, oracle } = stage;
      const first = home.start(['run'], { serves: true });
      await says(first, 'daemon.started');
      const second = home.start(['run', '--second', 'wait'], { serves: true });
      await says(second, 'daemon.waiting');
      await until('the first rows to be shown', async () => (await oracle.look()) === 1);
      expect(second.output()).not.toContain('daemon.started');
      await freeze(first, home);
      await oweOne(stage);
      first.child.kill(signal);
      first.child.kill('SIGCONT');
      await first.ended;
      await says(second, 'daemon.started');
      await until('the new rows to be shown', async () => (await oracle.look()) === 2);
      second.child.kill('SIGTERM');
      expect(await second.ended).toMatchObject({ code: 0, signal: null });
      await oracle.rest();
    },
  );

  it('the waiting daemon stops immediately on SIGTERM, and changes nothing', async () => {
    const stage = await owingStage();
    const first = stage.home.start(['run'], { serves: true });
    await says(first, 'daemon.started');
    const second = stage.home.start(['run', '--second', 'wait'], { serves: true });
    await says(second, 'daemon.waiting');
    second.child.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0, signal: null });
    expect(second.output()).not.toContain('daemon.started');
    expect(first.child.exitCode).toBeNull();
  });

  it('a daemon that was killed in another container is replaced once its lease expires', async () => {
    const stage = await owingStage();
    const { home, oracle } = stage;
    const elsewhere = JSON.stringify(['another-host', 'boot', 'space', 7, '7']);
    const db = new SqliteDatabase(join(home.folder, 'state', 'sluice.db'));
    const beat = Date.now();
    db.prepare('insert into heartbeats (owner, wall_ms, monotonic_ms) values (?, ?, 0)').run(elsewhere, beat);
    db.prepare("insert into leases (name, owner, token, taken_at) values ('daemon', ?, 't', ?)").run(elsewhere, beat);
    const daemon = home.start(['run'], { serves: true });
    await says(daemon, 'daemon.waiting');
    expect(daemon.output()).not.toContain('daemon.started');
    // The lease expires 30 seconds after the last heartbeat.
    db.prepare('update heartbeats set wall_ms = ? where owner = ?').run(beat - 60_000, elsewhere);
    db.close();
    await says(daemon, 'daemon.started');
    await until('the first rows to be shown', async () => (await oracle.look()) === 1);
  });
});

it("a sync during a run of the same job leaves the job's owed payloads to that run", async () => {
  const proxy = await openFaultProxy(theatre.world.url);
  const stage = await setStage(theatre, { url: proxy.url });
  const { home, upstream, oracle, instance } = stage;
  upstream.advance();
  await oracle.ended(await home.sync(dieAt(stage, 'say upload.started #1')));
  upstream.advance({ large: true });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  proxy.script(instance, { after: released });
  const first = home.start(['sync', '--json']);
  await until('the first upload attempt', async () =>
    home.state().outbox.some(({ attempts, state }) => state === 'owed' && attempts > 0),
  );
  await until('the second version to be in the outbox', () => home.state().outbox.length === 2);
  const second = await home.sync();
  expect(second.jobs).toMatchObject([{ state: 'busy', requests: 0 }]);
  expect(second.code).toBe(1);
  expect(first.child.exitCode, 'it did not wait for the other').toBeNull();
  release();
  expect(await first.ended).toMatchObject({ code: 0 });
  await oracle.rest();
});
