import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Start } from '../journey/process.ts';
import { forSuite, until } from '../journey/world.ts';
import { clear, fill, mountSmall } from './small-disk.ts';
import { dieAt, openTheatre, type Stage, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** How to start a process whose disk fails. */
function brokenDisk({ home }: Stage, ...faults: object[]): Start {
  const env = { DISK_UNDER: join(home.folder, 'state'), DISK_FAULTS: JSON.stringify(faults) };
  return { preload: ['broken-disk'], env };
}

/** A stage whose instance shows version 1 and whose source has version 2, which consists of several chunks. */
async function secondVersion(job: object = {}): Promise<Stage> {
  const stage = await setStage(theatre, { top: { keep: { payloads: 0 } }, job });
  stage.upstream.advance();
  await stage.oracle.ended(await stage.home.syncHere());
  stage.upstream.advance({ large: true });
  return stage;
}

describe('a disk failure during an extract', () => {
  it.for([
    { does: 'is full', fault: { what: 'write', fails: 'ENOSPC', after: 3 }, code: 'DISK_FULL' },
    { does: 'fails to write', fault: { what: 'write', fails: 'EIO', after: 3 }, code: 'SPOOL_FAILED' },
    { does: 'has no space for the payload', fault: { what: 'write', on: '.part', fails: 'ENOSPC' }, code: 'DISK_FULL' },
    { does: 'fails to write the payload', fault: { what: 'write', on: '.part', fails: 'EIO' }, code: 'SPOOL_FAILED' },
    { does: 'fails to sync', fault: { what: 'sync', on: '.part', fails: 'EIO' }, code: 'SPOOL_FAILED' },
    { does: 'fails to rename', fault: { what: 'rename', fails: 'EIO' }, code: 'SPOOL_FAILED' },
    { does: 'forbids renaming', fault: { what: 'rename', fails: 'EACCES' }, code: 'SPOOL_REFUSED' },
    { does: 'fails to sync the folder', fault: { what: 'sync', on: 'payloads', fails: 'EIO' }, code: 'SPOOL_FAILED' },
    { does: 'allows no new files', fault: { what: 'create', fails: 'EROFS' }, code: 'SPOOL_REFUSED' },
  ])(
    'fails the run with a message, leaves no partial files, and keeps the old rows visible (the disk $does)',
    async ({ fault, code }) => {
      const stage = await secondVersion();
      const { home, oracle } = stage;
      const ended = await home.sync(brokenDisk(stage, fault));
      expect(ended.jobs).toMatchObject([{ state: 'failed', requests: 0, problem: { code } }]);
      expect(await oracle.ended(ended)).toBe(1);
      expect(home.payloads()).toEqual([]);
      await oracle.rest();
      expect(await oracle.look()).toBe(2);
    },
  );
});

it('a daemon exits if its disk fails after it has started its schedules, but before it is ready', async () => {
  const stage = await secondVersion({ schedule: { every: '1h' } });
  const disk = brokenDisk(stage, { what: 'change', on: 'insert into settings', fails: 'EIO' });
  const ended = await stage.home.start(['run'], disk).ended;
  expect(ended.stdout).toContain('"daemon.started"');
  expect(ended.signal).toBeNull();
  expect(ended.code).toBeGreaterThan(0);
});

describe('a disk failure while a job writes its kept rows', () => {
  it.for([
    { does: 'is full', fault: { what: 'write', on: '.rows', fails: 'ENOSPC' }, code: 'DISK_FULL' },
    { does: 'fails to sync', fault: { what: 'sync', on: '.rows', fails: 'EIO' }, code: 'SPOOL_FAILED' },
    { does: 'fails to sync the folder', fault: { what: 'sync', on: 'sets', fails: 'EIO' }, code: 'SPOOL_FAILED' },
  ])(
    'fails the run with a message, leaves no partial files, and changes no visible or kept rows (the disk $does)',
    async ({ fault, code }) => {
      const stage = await secondVersion({ write: { disposition: 'merge', key: 'id' } });
      const { home, oracle } = stage;
      const kept = () => readdirSync(join(home.folder, 'state', 'sets'), { recursive: true });
      const before = kept();
      const ended = await home.sync(brokenDisk(stage, fault));
      expect(ended.jobs).toMatchObject([{ state: 'failed', requests: 0, problem: { code } }]);
      expect(await oracle.ended(ended)).toBe(1);
      expect(kept()).toEqual(before);
      expect(home.payloads()).toEqual([]);
      await oracle.rest();
      expect(await oracle.look()).toBe(2);
    },
  );
});

it.for(['.part', '.spool', '.rows'])(
  'if each write to disk stores only half the bytes, the other half is written too (%s)',
  async (on) => {
    const stage = await secondVersion(on === '.rows' ? { write: { disposition: 'merge', key: 'id' } } : {});
    const ended = await stage.home.sync(brokenDisk(stage, { what: 'write', on, fails: 'short', times: 200 }));
    expect(ended.jobs).toMatchObject([{ state: 'delivered' }]);
    expect(await stage.oracle.ended(ended)).toBe(2);
    await stage.oracle.rest();
  },
);

it.for([{ fails: 'EIO' }, { fails: 'EMFILE' }])(
  "a payload that can't be read for its upload ($fails) stays owed or is reported as damaged; old rows stay visible",
  async ({ fails }) => {
    const stage = await secondVersion();
    const { home, oracle, upstream } = stage;
    await oracle.ended(await home.sync(dieAt(stage, 'say payload.owed #1')));
    upstream.has = false;
    const ended = await home.sync(brokenDisk(stage, { what: 'read', fails }));
    expect(ended).toMatchObject({ code: 1, signal: null, jobs: [{ state: 'failed' }] });
    expect(await oracle.look()).toBe(1);
    expect(home.state().outbox.at(-1)!.state).toMatch(fails === 'EIO' ? /dead/ : /owed/);
    upstream.has = true;
    await oracle.rest();
    expect(await oracle.look()).toBe(2);
  },
);

describe('a full disk', () => {
  it("fails a job whose rows don't fit; once there is space, they are delivered, and nothing owed is lost", async () => {
    const stage = await setStage(theatre, { top: { keep: { payloads: 0 } } });
    const { home, upstream, oracle } = stage;
    const isSmall = mountSmall(stage, '10m');
    const limited: Start = isSmall ? {} : brokenDisk(stage, { what: 'write', fails: 'ENOSPC', after: 3 });
    upstream.advance();
    await oracle.ended(await home.syncHere());
    upstream.advance();
    await oracle.ended(await home.sync(dieAt(stage, 'say payload.owed #1')));
    upstream.advance({ large: true });
    if (isSmall) await fill(stage, 1_200_000);
    const partly = await home.sync(limited);
    expect(partly.jobs).toMatchObject([{ state: 'failed', problem: { code: 'DISK_FULL' } }]);
    expect(await oracle.ended(partly), 'what was owed before needs no space').toBe(2);
    if (isSmall) await expectPolite(stage);
    await oracle.rest();
    expect(await oracle.look()).toBe(3);
  });

  /** Not even the state itself can be written. */
  async function expectPolite(stage: Stage): Promise<void> {
    const { home, oracle } = stage;
    await clear(stage);
    await fill(stage);
    const { code, stderr, stdout } = await home.sluice(['sync', '--json']);
    expect(code).toBe(1);
    expect(stderr + stdout).toMatch(/STATE_FULL|DISK_FULL/);
    expect(stderr).not.toContain('ERR_SQLITE_ERROR');
    const { findings } = JSON.parse((await home.sluice(['doctor', '--json'])).stdout) as { findings: object[] };
    // The worst advice would be to restore a backup over an intact database on a disk that has no space for it.
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'database', ok: false, fix: expect.stringContaining('free some space') }),
    );
    await clear(stage);
    expect(await oracle.look()).toBe(2);
  }

  it('between an upload and its receipt causes a resend once there is space, but never shows older data', async () => {
    const stage = await setStage(theatre, { top: { keep: { payloads: 0 } } });
    const { home, upstream, oracle, control, instance } = stage;
    const isSmall = mountSmall(stage, '10m');
    upstream.advance();
    await oracle.ended(await home.syncHere());
    upstream.advance();
    await control.break(instance, { first: 1, answer_delay_ms: 10_000 });
    const full = isSmall ? {} : { preload: ['kill-at'], env: { KILL_AT: 'request.answered' } };
    const sync = home.start(['sync', '--json', '--wait', '0'], full);
    await until('the service to show the new rows', async () => (await oracle.look()) === 2);
    if (isSmall) await fill(stage);
    const { code } = await sync.ended;
    expect(code).not.toBe(0);
    await clear(stage);
    await oracle.rest();
    expect(await oracle.look()).toBe(2);
  });
});
