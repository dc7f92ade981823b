import { dirname, join, relative, sep } from 'node:path';
import { entriesIn, filesBelow } from '../../lib/files-below.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { StateBlobs } from '../blobs/blobs.ts';
import { inTransaction, inTransactionOn, Repository, type StoreContext } from '../engine/context.ts';
import { instanceLock } from '../engine/lock-keys.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { removeIfEmpty, touchedAt } from '../folder-files.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow, OutboxState } from '../tables.ts';
import { keyOf } from './instance-key.ts';
import { newestOfJobs } from './newest-of-jobs.ts';
import { rankedPayloads } from './ranked-payloads.ts';
import { Resends } from './resends.ts';

/**
 * Maximum number of surplus files that one delivery deletes. After a crash or a reduced limit, there may be more; later
 * deliveries and the sweep delete them.
 */
const fewMore = 2;
/** States of payloads whose files may still be needed. */
const kept: readonly OutboxState[] = ['owed', 'quarantined', 'dead'];
/** Grace period. A file that is newer than this is never swept, because its run may not have recorded the file yet. */
const youngMs = 10 * 60_000;

/** The kept payloads that were deleted to free space. */
export interface Forgotten {
  readonly payloads: number;
  readonly bytes: number;
}

/**
 * Manages payload files. Each run writes to its own folder, so runs never share files and never delete each other's
 * files.
 */
export class PayloadFiles extends Repository {
  /** The folder that contains all payload files. */
  get root(): string {
    return join(this.context.folder, 'payloads');
  }

  /** Returns the folder that a run spools to. Creates the folder if it doesn't exist. */
  folderOf(run: string): string {
    const folder = join(this.root, run);
    makeFolder(folder, 0o700);
    return folder;
  }

  /** All run folders. */
  folders(): string[] {
    return foldersIn(this.root).map((name) => join(this.root, name));
  }

  /** Removes the folder of a run that has ended if the folder is empty. */
  leave(run: string): void {
    removeIfEmpty(join(this.root, run), this.root);
  }

  /**
   * Deletes a payload's file unless it's still needed. A delivered payload's file is needed while the retention keeps
   * it, or while a resend or another job may need it. The check and the deletion happen under the write lock, and
   * `enqueue` checks under the same lock that the file exists, so the file of an owed payload never disappears. Returns
   * whether the file is gone.
   */
  release(path: string): Promise<boolean> {
    return inTransaction(this.context, (inside) => new PayloadFiles(inside).#deleteUnlessWanted(path));
  }

  async #deleteUnlessWanted(path: string): Promise<boolean> {
    const blobs = new StateBlobs(this.context);
    await blobs.lock(path);
    if (await isWanted(this.context, path)) return false;
    await blobs.drop(path);
    removeIfEmpty(dirname(path), this.root);
    return true;
  }

  /**
   * Deletes the files of an instance's delivered payloads, except those that the retention keeps. Call this after a
   * delivery.
   */
  async releaseFormer(row: OutboxRow): Promise<void> {
    const { url, client_id, instance } = row;
    const former = await this.context.db
      .selectFrom('outbox')
      .select(['path', 'settled_at'])
      .where('url', '=', url)
      .where('client_id', '=', client_id)
      .where('instance', '=', instance)
      .where('state', '=', 'delivered')
      .orderBy('id', 'desc')
      .limit((this.context.keep?.payloads ?? 0) + fewMore)
      .execute();
    // Leave out payloads whose files no longer exist. The files of most old payloads were deleted long ago.
    const there = await new StateBlobs(this.context).sizes(this.#surplusOf(former));
    if (there.size === 0) return;
    await inTransactionOn(this.context, [instanceLock(keyOf(row))], async (inside) => {
      for (const path of there.keys()) await new PayloadFiles(inside).#deleteUnlessWanted(path);
    });
  }

  /** Returns the paths that the retention doesn't keep. `former` are an instance's delivered payloads, newest first. */
  #surplusOf(former: readonly Pick<OutboxRow, 'path' | 'settled_at'>[]): string[] {
    const { keep, clock } = this.context;
    const since = clock.now() - (keep?.milliseconds ?? 0);
    const paths = [...new Set(former.map(({ path }) => path))];
    const kept = new Set(paths.slice(0, keep?.payloads ?? 0));
    const young = new Set(former.filter(({ settled_at }) => (settled_at ?? 0) >= since).map(({ path }) => path));
    return paths.filter((path) => !kept.has(path) || !young.has(path));
  }

  /**
   * Frees at least `bytes` if possible. Deletes delivered payloads that are kept only for a rollback, oldest first.
   * Payloads that instances show are deleted last, and those that other jobs read not at all.
   */
  async forget(bytes: number): Promise<Forgotten> {
    const forgotten = { payloads: 0, bytes: 0 };
    await inTransaction(this.context, async (inside) => {
      const blobs = new StateBlobs(inside);
      const paths = await forgettable(inside);
      const sizes = await blobs.sizes(paths);
      for (const path of paths) {
        if (forgotten.bytes >= bytes) return;
        const size = sizes.get(path);
        if (size === undefined) continue;
        await blobs.drop(path);
        removeIfEmpty(dirname(path), this.root);
        forgotten.payloads += 1;
        forgotten.bytes += size;
      }
    });
    return forgotten;
  }

  /**
   * Deletes files that no payload and no live run needs, such as partial files and files of dead runs. Never touches
   * the folder of a live run, even if its files seem old, because the clock may have been changed. `withBlobs`: also
   * blobs of which this machine has no copy. Returns the paths of the deleted files.
   */
  async sweep({ withBlobs = true } = {}): Promise<string[]> {
    // List the folders before the runs. A run is recorded before its folder is created, so every folder in the list
    // that belongs to a live run is recognized.
    const folders = foldersIn(this.root);
    const stored = withBlobs ? await new StateBlobs(this.context).below(this.root) : new Map<string, number>();
    const files = new Set([...filesBelow(this.root), ...stored.keys()]);
    const living = new Set((await new Runs(this.context).underway()).map(({ id }) => id));
    const end = this.context.clock.now() - youngMs;
    const old = [...files].filter((path) => {
      const touched = stored.get(path) ?? touchedAt(path);
      return !living.has(relative(this.root, path).split(sep, 1)[0]!) && touched < end;
    });
    // Use one query for all files. Taking the lock for each of ten thousand kept files would make every start seconds
    // slower.
    const wanted = old.length === 0 ? new Set<string>() : await wantedPaths(this.context);
    const swept: string[] = [];
    for (const path of old) {
      if (!wanted.has(path) && (await this.release(path))) swept.push(path);
    }
    for (const name of folders) if (!living.has(name)) this.leave(name);
    return swept;
  }
}

/**
 * Returns the files of the delivered payloads whose rows other jobs read, or would read if the service rejected the
 * payloads that are owed.
 */
async function readPaths(context: StoreContext): Promise<Set<string>> {
  const rows = await newestOfJobs(context, [...(context.readJobs ?? [])], ['delivered']);
  return new Set(rows.map(({ path }) => path));
}

/** Returns the files that belong only to delivered payloads, in the order in which they may be deleted. */
async function forgettable(context: StoreContext): Promise<string[]> {
  const { db } = context;
  const wanted = await db.selectFrom('outbox').select('path').where('state', 'in', kept).execute();
  const again = await new Resends(context).paths();
  const needed = new Set([...wanted.map(({ path }) => path), ...again, ...(await readPaths(context))]);
  const delivered = await db
    .selectFrom(rankedPayloads({ db }).as('ranked'))
    .select('path')
    .groupBy('path')
    .orderBy(({ fn, eb }) => eb(fn.min('rank'), '=', 1))
    .orderBy(({ fn }) => fn.max('settled_at'))
    .execute();
  return delivered.map(({ path }) => path).filter((path) => !needed.has(path));
}

/**
 * Returns the paths of the payloads that are pending or that the retention keeps. {@link isWanted} also considers
 * payloads that a resend needs; there are few of them.
 */
async function wantedPaths({ db, clock, keep }: StoreContext): Promise<Set<string>> {
  const inKept = await db.selectFrom('outbox').select('path').where('state', 'in', kept).execute();
  const former =
    keep === undefined
      ? []
      : await db
          .selectFrom(rankedPayloads({ db }).as('ranked'))
          .select('path')
          .where('rank', '<=', keep.payloads)
          .where('settled_at', '>=', Math.round(clock.now() - keep.milliseconds))
          .execute();
  return new Set([...inKept, ...former].map(({ path }) => path));
}

async function isWanted(context: StoreContext, path: string): Promise<boolean> {
  const stored = storedPath(context.folder, path);
  const rows = await context.db.selectFrom('outbox').selectAll().where('path', '=', stored).execute();
  if (rows.some(({ state }) => kept.includes(state))) return true;
  for (const row of rows) if (row.state === 'delivered' && (await isKept(context, row))) return true;
  if (rows.some(({ job }) => context.readJobs?.has(job)) && (await readPaths(context)).has(path)) return true;
  return new Resends(context).needs(rows);
}

/**
 * Returns whether the retention keeps a delivered payload: it's among its instance's newest payloads and not too old. A
 * delivery time in the future means that the clock was set back.
 */
async function isKept({ db, clock, keep }: StoreContext, row: OutboxRow): Promise<boolean> {
  if (keep === undefined || clock.now() - (row.settled_at ?? 0) > keep.milliseconds) return false;
  const newer = await db
    .selectFrom('outbox')
    .select(({ fn }) => fn.count<number>('path').distinct().as('count'))
    .where('url', '=', row.url)
    .where('client_id', '=', row.client_id)
    .where('instance', '=', row.instance)
    .where('state', '=', 'delivered')
    .where('id', '>', row.id)
    .executeTakeFirstOrThrow();
  return newer.count < keep.payloads;
}

function foldersIn(root: string): string[] {
  return entriesIn(root)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
