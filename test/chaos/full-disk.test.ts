import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openReceiver, secret } from '../alerts/receiver.ts';
import { forSuite, type Running, until } from '../journey/world.ts';
import { clear, fill, mountSmall, noSmallDisk } from './small-disk.ts';
import { openTheatre, type Stage, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;
const missing = noSmallDisk();
if (missing !== undefined) process.stderr.write(`tests on a small disk are skipped: ${missing}\n`);

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

const says = (running: Running, text: string) => until(text, () => running.output().includes(text));

/** A stage on a disk of a few megabytes, with no space reserved for other programs. */
async function smallStage(size: string, top: object = {}): Promise<Stage> {
  const stage = await setStage(theatre, {
    top: { keep: { payloads: 0 }, disk: { free_megabytes: 0 }, ...top },
    job: { schedule: '0 0 1 1 *' },
  });
  expect(mountSmall(stage, size)).toBe(true);
  return stage;
}

async function startDaemon({ home }: Stage): Promise<Running> {
  const daemon = home.start(['run', '--log', 'debug'], { serves: true });
  await says(daemon, 'daemon.started');
  return daemon;
}

/** A command that is killed before it sends what it owes; the daemon sends it later. */
async function oweByKilled({ home }: Stage): Promise<void> {
  await home.start(['sync', '--json'], { preload: ['kill-at'], env: { KILL_AT: 'payload.owed' } }).ended;
}

describe.skipIf(missing !== undefined)('a full disk', () => {
  it.for([0, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 700_000])(
    "with %d bytes free at the first start is reported with the state folder's path, never as a bug in Sluice",
    async (left) => {
      const stage = await smallStage('3m');
      const { home, upstream, oracle } = stage;
      upstream.advance();
      await fill(stage, left);
      const { code, stdout, stderr } = await home.sluice(['sync', '--json', '--wait', '0']);
      expect(code, stderr).toBeLessThanOrEqual(1);
      if (code === 1) expect(stdout + stderr).toMatch(/STATE_FULL|DISK_FULL/);
      if (code === 1) expect(stdout + stderr).toContain(join(home.folder, 'state'));
      expect(stdout + stderr).not.toMatch(/ERR_SQLITE_ERROR|rollback|ENOSPC:/);
      await clear(stage);
      await oracle.rest();
      expect(await oracle.look()).toBe(1);
    },
  );

  it.for([1, 2, 3, 4])('with only %d free inodes at the first start is reported', async (files) => {
    const stage = await setStage(theatre, { top: { keep: { payloads: 0 } } });
    mountSmall(stage, '3m', files);
    stage.upstream.advance();
    const { code, stderr } = await stage.home.sluice(['sync', '--json', '--wait', '0']);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/STATE_FULL|STATE_UNREADABLE/);
  });

  it('makes a sync fail with an error message while a daemon uses the state', async () => {
    const stage = await smallStage('3m');
    const { home, upstream, oracle } = stage;
    upstream.advance();
    await oracle.ended(await home.syncHere());
    await startDaemon(stage);
    upstream.advance();
    await fill(stage);
    const { code, stdout, stderr } = await home.sluice(['sync', '--json']);
    expect(code, stderr).toBe(1);
    expect(stdout + stderr).toMatch(/STATE_FULL|DISK_FULL/);
    await clear(stage);
  });

  it("during a daemon's upload is reported by alerts, status and health; the rows arrive soon after space is freed", async () => {
    const receiver = await openReceiver();
    const alerts = { channels: { ops: { type: 'webhook', url: receiver.url, secret } } };
    const stage = await smallStage('6m', { alerts });
    const { home, upstream, oracle, control, instance } = stage;
    upstream.advance();
    await oracle.ended(await home.syncHere());
    const daemon = await startDaemon(stage);
    upstream.advance();
    await control.break(instance, { first: 1, answer_delay_ms: 10_000 });
    await oweByKilled(stage);
    daemon.child.kill('SIGHUP');
    await says(daemon, 'upload.started');
    await fill(stage);
    await says(daemon, 'state.unwritable');
    const seen = async (command: string) => (await home.sluice([command])).stdout;
    expect(await seen('alerts')).toContain('The state is not writable: Disk full');
    expect(await seen('alerts')).not.toContain('No open alerts');
    expect(await seen('status')).toContain('the state is not writable');
    expect(await home.sluice(['health'])).toMatchObject({ code: 1, stdout: expect.stringContaining('STATE_FULL') });
    await until('the alert about the full disk', () => receiver.titles().includes('the state is not writable'));
    await clear(stage);
    await says(daemon, 'payload.delivered');
    expect(await oracle.look()).toBe(2);
    await says(daemon, 'state.writable');
    await until('the recovery alert', () => receiver.titles().includes('the state is writable again'));
    expect((await home.sluice(['health'])).code).toBe(0);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    await oracle.rest();
  });

  it('defers a firing, and the source is read again only once there is space', async () => {
    const stage = await smallStage('6m');
    const { home, upstream, oracle } = stage;
    upstream.advance();
    await oracle.ended(await home.syncHere());
    const first = await startDaemon(stage);
    first.child.kill('SIGTERM');
    await first.ended;
    upstream.advance({ large: true });
    await fill(stage, 900_000);
    const nextYear = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: String(366 * 86_400_000) } };
    const daemon = home.start(['run'], { serves: true, ...nextYear });
    await says(daemon, 'firing.deferred');
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    expect(daemon.output().match(/run\.started/g)).toHaveLength(1);
    expect(await oracle.look()).toBe(1);
    await clear(stage);
    await says(daemon, 'payload.delivered');
    expect(await oracle.look()).toBe(2);
  });

  it("during the upload of a sync with --wait doesn't end that sync, which delivers the rows once there is space", async () => {
    const stage = await smallStage('6m');
    const { home, upstream, oracle, control, instance } = stage;
    upstream.advance();
    await oracle.ended(await home.syncHere());
    upstream.advance();
    await control.break(instance, { first: 1, answer_delay_ms: 3000 });
    const sync = home.start(['sync', '--json', '--wait', '120']);
    await until('the service to show the new rows', async () => (await oracle.look()) === 2);
    await fill(stage);
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    await clear(stage);
    expect(await sync.ended).toMatchObject({ code: 0 });
    await oracle.rest();
  });
});

describe('write errors in SQLite and the file system', () => {
  /** The process can't write to any file any more: SQLite reports SQLITE_IOERR_WRITE, the file system EFBIG. */
  const allow = ({ child }: Running, bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);

  it("during a daemon's upload leave the payload owed, and it's delivered soon after the last error", async () => {
    const stage = await setStage(theatre, { top: { keep: { payloads: 0 } }, job: { schedule: '0 0 1 1 *' } });
    const { home, upstream, oracle, control, instance } = stage;
    upstream.advance();
    await oracle.ended(await home.syncHere());
    const daemon = await startDaemon(stage);
    upstream.advance();
    await control.break(instance, { first: 1, answer_delay_ms: 10_000 });
    await oweByKilled(stage);
    daemon.child.kill('SIGHUP');
    await says(daemon, 'upload.started');
    allow(daemon, 0);
    await says(daemon, 'state.unwritable');
    await says(daemon, 'STATE_UNREADABLE');
    allow(daemon, 'unlimited');
    await says(daemon, 'payload.delivered');
    expect(await oracle.look()).toBe(2);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    await oracle.rest();
  });

  it("from a sync's start are reported with their cause, never as a bug in Sluice", async () => {
    const stage = await setStage(theatre, { top: { keep: { payloads: 0 } } });
    const { home, upstream, oracle } = stage;
    upstream.advance();
    for (const bytes of [0, 4_096, 30_000, 100_000, 200_000]) {
      rmSync(join(home.folder, 'state'), { recursive: true, force: true });
      const under = ['prlimit', `--fsize=${bytes}:unlimited`];
      const { code, stdout, stderr } = await home.sluice(['sync', '--json', '--wait', '0'], { under });
      expect(code, `${bytes}: ${stderr}`).toBeLessThanOrEqual(1);
      if (code === 1) expect(stdout + stderr, String(bytes)).toMatch(/STATE_UNREADABLE|SPOOL_FAILED/);
      expect(stdout + stderr).not.toMatch(/ERR_SQLITE_ERROR|bug in Sluice/);
      expect(readdirSync(home.folder)).toContain('state');
    }
    await oracle.rest();
  });
});
