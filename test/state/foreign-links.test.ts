import {
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { refuseForeignLinks, refuseLinksIn } from '../../src/lib/foreign-links.ts';
import { giveTreeToOwner } from '../../src/lib/give-to-owner.ts';
import { createPrivateFile, openPrivateFile } from '../../src/lib/private-file.ts';
import { EncryptionKeys } from '../../src/oauth/keys.ts';
import { backUp } from '../../src/state/backup/backup.ts';
import { recover } from '../../src/state/recover.ts';
import { openStore } from '../../src/state/store.ts';

const isRoot = process.getuid!() === 0;
/** If the tests run as root, a service user; otherwise, the current user. */
const service = isRoot ? 12_345 : process.getuid!();

let folder: string;
let state: string;
let victim: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-links-'));
  state = join(folder, 'state');
  victim = join(folder, 'victim');
  mkdirSync(state, { mode: 0o755 });
  chownSync(state, service, service);
  writeFileSync(victim, 'of root\n', { mode: 0o640 });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function linkOfService(target: string, path: string): void {
  symlinkSync(target, path);
  lchownSync(path, service, service);
}

const factsOf = (path: string) => {
  const { uid, mode } = statSync(path);
  return { uid, mode: mode & 0o777, text: readFileSync(path, 'utf8') };
};

describe("another user's state folder", () => {
  // For the WAL and its index, SQLite follows the current user's links, so only root can test that it doesn't follow
  // another user's.
  const names = isRoot ? ['sluice.db', 'sluice.db-wal', 'sluice.db-shm'] : ['sluice.db'];
  it.each(names)("that contains a link named %s doesn't change its target", async (name) => {
    const before = factsOf(victim);
    linkOfService(victim, join(state, name));
    await expect(openStore(state, { clock: systemClock })).rejects.toThrow(/link|unable to open/);
    expect(factsOf(victim)).toEqual(before);
  });

  it("that contains a dangling link named sluice.db doesn't create its target", async () => {
    linkOfService(join(folder, 'absent'), join(state, 'sluice.db'));
    await expect(openStore(state, { clock: systemClock })).rejects.toThrow('link');
    expect(existsSync(join(folder, 'absent'))).toBe(false);
  });

  it("that contains a link named like the logins' key doesn't change its target's permissions", () => {
    const before = factsOf(victim);
    linkOfService(victim, join(state, 'login.key'));
    expect(() => new EncryptionKeys({ former: [] }, state).current()).toThrow('link');
    expect(factsOf(victim)).toEqual(before);
  });

  it("that contains a link can't be backed up, and the link's target isn't copied", async () => {
    const store = await openStore(state, { clock: systemClock });
    await store.close();
    linkOfService(victim, join(state, 'login.key'));
    await expect(backUp({ state }, join(folder, 'backup'), 0)).rejects.toThrow('link');
    expect(existsSync(join(folder, 'backup', 'login.key'))).toBe(false);
  });

  it.each(['sluice.db-wal', 'sluice.db-shm', 'payloads', 'sets', 'blocked', 'logs'])(
    'is rejected for root if it contains a link named %s',
    (name) => {
      linkOfService(folder, join(state, name));
      // If the tests don't run as root, the current user's links simulate those of another user.
      expect(() => refuseLinksIn(state, 0)).toThrow(
        expect.objectContaining({ code: 'FOREIGN_LINK', message: expect.stringContaining(`: ${join(state, name)}`) }),
      );
    },
  );

  it("that contains a link below its payloads or kept rows doesn't lose the link's target in a sweep", async () => {
    const target = join(folder, 'target');
    mkdirSync(target);
    writeFileSync(join(target, 'old'), '');
    utimesSync(join(target, 'old'), 0, 0);
    const store = await openStore(state, { clock: systemClock });
    for (const name of ['payloads', 'sets']) {
      mkdirSync(join(state, name, 'run'), { recursive: true });
      linkOfService(target, join(state, name, 'run', 'link'));
    }
    expect((await recover(store)).swept).toEqual([]);
    await store.close();
    expect(existsSync(join(target, 'old'))).toBe(true);
  });

  it("is rejected for root if its own path contains another user's link", () => {
    linkOfService(state, join(folder, 'other'));
    expect(() => refuseForeignLinks(join(folder, 'other', 'payloads', 'run'), 0)).toThrow(`: ${folder}/other`);
  });
});

describe('a private file', () => {
  it("is created only at its own path, not at a link's target", () => {
    linkOfService(join(folder, 'absent'), join(state, 'file'));
    expect(() => createPrivateFile(join(state, 'file'))).toThrow('EEXIST');
    expect(existsSync(join(folder, 'absent'))).toBe(false);
  });

  it('keeps its permissions if it has a second hard link', () => {
    linkSync(victim, join(state, 'file'));
    expect(() => openPrivateFile(join(state, 'file'))).toThrow('hard link');
    expect(factsOf(victim).mode).toBe(0o640);
  });
});

describe("a folder that root created in another user's folder", () => {
  it('is given to that user, except for links and files with a second hard link', () => {
    const tree = join(state, 'tree');
    mkdirSync(join(tree, 'inner'), { recursive: true });
    writeFileSync(join(tree, 'inner', 'own'), '');
    linkSync(victim, join(tree, 'inner', 'other'));
    const before = factsOf(victim);
    giveTreeToOwner(tree);
    expect([tree, join(tree, 'inner'), join(tree, 'inner', 'own')].map((path) => lstatSync(path).uid)).toEqual([
      service,
      service,
      service,
    ]);
    expect(factsOf(victim)).toEqual(before);
  });
});
