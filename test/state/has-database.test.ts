import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { examine } from '../../src/daemon/doctor/examine.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { backUp } from '../../src/state/backup/backup.ts';
import { inspectState } from '../../src/state/backup/inspect.ts';
import { openExistingStore } from '../../src/state/open-existing-store.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-look-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A path that even root can't access, unlike a folder without permissions. */
function unreadable(): string {
  const state = join(folder, 'loop');
  rmSync(state, { force: true });
  symlinkSync('loop', state);
  return state;
}

const refused = { code: 'STATE_UNUSABLE', message: expect.stringContaining('cannot be read') };

describe('read-only commands with an unreadable state folder', () => {
  it('fail instead of reporting that there is no state', async () => {
    const state = unreadable();
    await expect(openExistingStore({ state })).rejects.toMatchObject(refused);
    await expect(backUp({ state }, join(folder, 'backup'), systemClock.now())).rejects.toMatchObject(refused);
    expect(inspectState(state)).toMatchObject({ unread: refused });
  });

  it('include doctor, which reports the unreadable folder', () => {
    const file = join(folder, 'sluice.yaml');
    writeFileSync(file, '');
    const config = { file, folder, state: unreadable(), jobs: new Map() } as unknown as Config;
    const findings = examine(config, { now: systemClock.now(), version: 'none' });
    expect(findings).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('The state folder cannot be read') }),
    );
  });

  it('find no state if the folder is missing or is a file', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const state of [join(folder, 'missing'), join(folder, 'file')]) {
      expect(await openExistingStore({ state })).toBeUndefined();
      expect(inspectState(state)).toBeUndefined();
    }
  });
});
