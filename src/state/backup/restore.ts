import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { giveTreeToOwner } from '../../lib/give-to-owner.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { Problem } from '../../lib/problem.ts';
import { syncPath, syncTree } from '../../lib/sync-path.ts';
import { idName } from '../blobs/state-id.ts';
import { claimFolder, taken } from '../claim-folder.ts';
import { hasDatabase } from '../engine/has-database.ts';
import { type ServerLocation, type StateLocation, stateText } from '../engine/state-database.ts';
import { serverSettingName } from '../failover-guard.ts';
import { openExistingStore } from '../open-existing-store.ts';
import { openStore, type Store } from '../store.ts';
import { type BackupManifest, databaseName, keyName, namesIn, verifyBackup } from './backup-files.ts';
import { forgetProcesses, refuseLiving } from './distrust.ts';

export interface RestoreOptions {
  readonly from: string;
  /** Where the backup is restored to. */
  readonly to: StateLocation;
  /** What to do with an existing state: if true, move it aside; if false, throw an error. */
  readonly replace: boolean;
  /**
   * Whether Sluice has not run since the backup was made, as when a state is moved to another machine. If true, owed
   * payloads stay owed. If false, destinations may have received newer data, so owed payloads are set aside and all
   * rows are sent again.
   */
  readonly moved: boolean;
  readonly clock?: Clock;
}

export interface RestoreResult {
  readonly madeAt: string;
  readonly payloads: number;
  /** Number of payloads that were owed in the backup and have been set aside (marked dead). */
  readonly parked: number;
  /** Where the previous state was moved to: folders and schemas. */
  readonly former: readonly string[];
  /** The backup's key file. Undefined if there is none, or if it was restored too. */
  readonly keyFile?: string;
}

/**
 * Restores a backup to a state folder or to a server. First verifies the backup, then migrates and prepares it in a
 * staging folder. Moves the database last, so that an interrupted restore is never mistaken for a complete state. The
 * state folder itself isn't replaced, because it may be the root of a volume.
 */
export async function restore(given: RestoreOptions): Promise<RestoreResult> {
  const { clock = systemClock, moved } = given;
  const from = resolve(given.from);
  const to = { ...given.to, state: resolve(given.to.state) };
  const { state, stateDatabase } = to;
  const manifest = await verifyBackup(from);
  await refuseOthers(to, given);
  makeFolder(state, 0o700, { lasting: true });
  const stage = await mkdtemp(join(state, '.restore-'));
  try {
    const hasKey = manifest.files.some(({ file }) => file === keyName);
    // All machines that share a server need the same key, so it's in their configs.
    const files = manifest.files.filter(({ file }) => stateDatabase === undefined || file !== keyName);
    for (const { file } of files) await copyIn(join(from, file), join(stage, file));
    const parked = await makeReady(stage, { moved, manifest, clock });
    giveTreeToOwner(stage);
    await syncTree(stage);
    const former =
      stateDatabase === undefined
        ? await moveTo(state, { stage, clock })
        : await moveToServer({ state, stateDatabase }, { stage, clock });
    const payloads = files.filter(({ file }) => file.startsWith('payloads')).length;
    const keyFile = hasKey && stateDatabase !== undefined ? { keyFile: join(from, keyName) } : {};
    return { madeAt: manifest.made_at, payloads, parked, former, ...keyFile };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function copyIn(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to, constants.COPYFILE_EXCL);
}

interface Readying {
  readonly moved: boolean;
  readonly manifest: BackupManifest;
  readonly clock: Clock;
}

/**
 * Migrates the staged database, and throws if a newer version of Sluice wrote it. Releases its leases. Unless `moved`
 * is true, marks owed payloads dead. Returns the number of these payloads.
 */
async function makeReady(stage: string, { moved, manifest, clock }: Readying): Promise<number> {
  const location = { state: stage };
  const store = await openStore(stage, { clock });
  try {
    await forgetProcesses(location);
    await store.settings.forget(idName, serverSettingName);
    if (moved) return 0;
    const message = `The state was restored from a backup made at ${manifest.made_at}; newer data may have been sent since then`;
    return await store.trust.withdraw(message);
  } finally {
    await store.close();
  }
}

/** Throws if a state would be replaced that a live process is using, or that another config uses. */
async function refuseOthers(to: StateLocation, { replace, clock }: RestoreOptions): Promise<void> {
  const isThere = to.stateDatabase === undefined && hasDatabase(to.state);
  if (isThere && !replace) throw stateThere(to);
  const options = clock && { clock };
  // A file that can't be opened isn't in use.
  const store = isThere
    ? await openExistingStore(to, options).catch(() => undefined)
    : await openExistingStore(to, options);
  try {
    if (store !== undefined && !replace) throw stateThere(to);
    if (store !== undefined) await refuseLiving(store, to);
    if (to.stateDatabase !== undefined) await refuseOtherFolder(to.state, store);
  } finally {
    await store?.close();
  }
}

/** Throws if the cache folder contains the payloads of a state that won't be replaced. */
async function refuseOtherFolder(folder: string, store: Store | undefined): Promise<void> {
  if (store !== undefined) return claimFolder(store);
  const file = [idName, databaseName].find((name) => existsSync(join(folder, name)));
  if (file !== undefined) throw taken(folder, file);
}

async function moveTo(state: string, { stage, clock }: { stage: string; clock: Clock }): Promise<string[]> {
  const former = await putAside(state, clock);
  const files = (await namesIn(stage)).filter((name) => name !== databaseName);
  await moveIn(stage, state, [...files, databaseName]);
  return former;
}

async function moveToServer(to: ServerLocation, { stage, clock }: { stage: string; clock: Clock }): Promise<string[]> {
  const { importState } = await import('./import-state.ts');
  let folders: string[] = [];
  const schemas = await importState(to, {
    from: stage,
    file: databaseName,
    async moveFiles() {
      folders = await putAside(to.state, clock);
      const files = (await namesIn(stage)).filter((name) => !name.startsWith(databaseName));
      await moveIn(stage, to.state, files);
    },
  });
  return [...schemas, ...folders];
}

/**
 * Moves the existing state aside. Moves its database first, because the other files aren't recognized as a state
 * without it.
 */
async function putAside(state: string, clock: Clock): Promise<string[]> {
  const parts = [databaseName, `${databaseName}-wal`, `${databaseName}-shm`, 'payloads', 'sets', keyName, idName];
  const there = parts.filter((name) => existsSync(join(state, name)));
  if (there.length === 0) return [];
  const former = join(state, `before-${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')}`);
  makeFolder(former, 0o700);
  for (const name of there) await rename(join(state, name), join(former, name));
  return [former];
}

async function moveIn(stage: string, state: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rename(join(stage, name), join(state, name));
  await syncPath(state);
}

function stateThere(to: StateLocation): Problem {
  return new Problem({
    code: 'STATE_EXISTS',
    family: 'config',
    message: 'A state already exists; nothing was changed',
    seen: stateText(to),
    next: 'stop the daemon, then add --replace, which moves the current state aside without deleting it',
  });
}
