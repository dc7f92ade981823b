import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { giveTreeToOwner } from '../../lib/give-to-owner.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { Problem } from '../../lib/problem.ts';
import { syncPath, syncTree } from '../../lib/sync-path.ts';
import { useDatabase } from '../engine/database.ts';
import { hasDatabase } from '../engine/has-database.ts';
import { processText } from '../processes/processes.ts';
import { openStore } from '../store.ts';
import { type BackupManifest, databaseName, keyName, namesIn, verifyBackup } from './backup-files.ts';

export interface RestoreOptions {
  readonly from: string;
  /** The state folder that the backup is restored to. */
  readonly state: string;
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
  /** The folder to which the previous state was moved. Undefined if there was none. */
  readonly former?: string;
}

/**
 * Restores a backup to a state folder. First verifies the backup, then migrates and prepares it in a staging folder.
 * Moves the database last, so that an interrupted restore is never mistaken for a complete state. The state folder
 * itself isn't replaced, because it may be the root of a volume.
 */
export async function restore(given: RestoreOptions): Promise<RestoreResult> {
  const { clock = systemClock } = given;
  const from = resolve(given.from);
  const state = resolve(given.state);
  const manifest = await verifyBackup(from);
  await refuseLiving(state, given.replace, clock);
  makeFolder(state, 0o700, { lasting: true });
  const stage = await mkdtemp(join(state, '.restore-'));
  try {
    for (const { file } of manifest.files) await copyIn(join(from, file), join(stage, file));
    const parked = await makeReady(stage, { moved: given.moved, manifest, clock });
    giveTreeToOwner(stage);
    await syncTree(stage);
    const former = await putAside(state, clock);
    await moveIn(stage, state);
    const payloads = manifest.files.filter(({ file }) => file.startsWith('payloads')).length;
    return { madeAt: manifest.made_at, payloads, parked, former };
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
  const store = await openStore(stage, { clock });
  const { db, close } = useDatabase(join(stage, databaseName));
  try {
    await db.deleteFrom('leases').execute();
    await db.deleteFrom('heartbeats').execute();
    if (moved) return 0;
    let parked = 0;
    for (const { id } of await store.outbox.inState('owed')) {
      const message = `The state was restored from a backup made at ${manifest.made_at}; newer data may have been sent since then`;
      if (await store.outbox.markDead(id, { code: 'STATE_RESTORED', message })) parked += 1;
    }
    await db.updateTable('receipts').set({ certain: 0 }).execute();
    // A job's kept rows always match its watermark, so jobs with kept rows keep both. But their instances may have
    // changed since the backup, so all rows are sent again.
    const keeping = db.selectFrom('current_generations').select('job');
    await db.deleteFrom('watermarks').where('job', 'not in', keeping).execute();
    await store.generations.doubt();
    return parked;
  } finally {
    await close();
    await store.close();
  }
}

/** Throws if a live process is using the state that would be replaced. A state that can't be opened isn't in use. */
async function refuseLiving(state: string, replace: boolean, clock: Clock): Promise<void> {
  if (!hasDatabase(state)) return;
  if (!replace) throw stateThere(state);
  const store = await openStore(state, { clock }).catch(() => undefined);
  try {
    const daemon = await store?.leases.holder('daemon');
    const [run] = (await store?.runs.underway()) ?? [];
    const owner = daemon?.owner ?? run?.owner;
    if (owner !== undefined) throw inUse(state, processText(owner));
  } finally {
    await store?.close();
  }
}

/**
 * Moves the existing state aside. Moves its database first, because the other files aren't recognized as a state
 * without it.
 */
async function putAside(state: string, clock: Clock): Promise<string | undefined> {
  const parts = [databaseName, `${databaseName}-wal`, `${databaseName}-shm`, 'payloads', 'sets', keyName];
  const there = parts.filter((name) => existsSync(join(state, name)));
  if (there.length === 0) return undefined;
  const former = join(state, `before-${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')}`);
  makeFolder(former, 0o700);
  for (const name of there) await rename(join(state, name), join(former, name));
  return former;
}

async function moveIn(stage: string, state: string): Promise<void> {
  const names = await namesIn(stage);
  for (const name of [...names.filter((one) => one !== databaseName), databaseName]) {
    await rename(join(stage, name), join(state, name));
  }
  await syncPath(state);
}

function stateThere(state: string): Problem {
  return new Problem({
    code: 'STATE_EXISTS',
    family: 'config',
    message: 'A state already exists; nothing was changed',
    seen: state,
    next: 'stop the daemon, then add --replace, which moves the current state aside without deleting it',
  });
}

function inUse(state: string, who: string): Problem {
  return new Problem({
    code: 'STATE_IN_USE',
    family: 'config',
    message: 'The state is in use by another process; nothing was changed',
    seen: `${who} on ${state}`,
    next: 'stop the daemon, and wait for runs to end',
  });
}
