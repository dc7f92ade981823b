import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import { inTransaction, type StoreContext } from '../engine/context.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { filesBelow, removeIfEmpty } from '../folder-files.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow, OutboxState } from '../tables.ts';
import { rankedPayloads } from './ranked-payloads.ts';
import { Resends } from './resends.ts';

/** More than one too many at a time is left by a crash or a smaller limit: the next deliveries and the sweep find them. */
const fewMore = 2;
/** In these states the bytes may still be wanted. */
const kept: readonly OutboxState[] = ['owed', 'quarantined', 'dead'];
/** Nothing younger than this is swept, whatever the store knows of it. */
const youngMs = 10 * 60_000;

/** Delivered payloads whose files went though they were kept. */
export interface Forgotten {
  readonly payloads: number;
  readonly bytes: number;
}

/** The files of payloads: each run writes into a folder of its own, so no two runs ever share or lose a file. */
export class PayloadFiles {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The folder that holds all payloads. */
  get root(): string {
    return join(this.#context.folder, 'payloads');
  }

  /** The folder that one run spools into; made when missing. */
  folderOf(run: string): string {
    const folder = join(this.root, run);
    makeFolder(folder, 0o700);
    return folder;
  }

  /** The folders of all runs that have one. */
  folders(): string[] {
    return foldersIn(this.root).map((name) => join(this.root, name));
  }

  /** A run has ended: its folder goes, if it kept nothing in it. */
  leave(run: string): void {
    removeIfEmpty(join(this.root, run), this.root);
  }

  /**
   * Deletes a payload's file unless something still wants it. Looks and deletes under the write lock, and `owe` looks
   * for the file under the same lock, so a file never vanishes from under a payload. The last good ones of an
   * instance are kept, as many and as long as the store was told.
   */
  async release(path: string): Promise<void> {
    await inTransaction(this.#context, async (inside) => {
      if (await isWanted(inside, path)) return;
      rmSync(path, { force: true });
      removeIfEmpty(dirname(path), this.root);
    });
  }

  /** A payload was delivered: its file, and those of the instance that it makes one too many, go unless they are kept. */
  async releaseFormer({ url, client_id, instance, path }: OutboxRow): Promise<void> {
    const former = await this.#context.db
      .selectFrom('outbox')
      .select('path')
      .where('url', '=', url)
      .where('client_id', '=', client_id)
      .where('instance', '=', instance)
      .where('state', '=', 'delivered')
      .orderBy('id', 'desc')
      .limit((this.#context.keep?.payloads ?? 0) + fewMore)
      .execute();
    // Of most of them nothing is left.
    const there = new Set([path, ...former.map((row) => row.path)].filter((one) => existsSync(one)));
    await inTransaction(this.#context, async (inside) => {
      for (const one of there) await new PayloadFiles(inside).release(one);
    });
  }

  /**
   * Deletes delivered payloads that are only kept to go back to, until so many bytes are free: the oldest first, and the one
   * that an instance shows after all that it showed before.
   */
  async forget(bytes: number): Promise<Forgotten> {
    const forgotten = { payloads: 0, bytes: 0 };
    await inTransaction(this.#context, async (inside) => {
      for (const path of await forgettable(inside)) {
        if (forgotten.bytes >= bytes) return;
        const size = statSync(path, { throwIfNoEntry: false })?.size;
        if (size === undefined) continue;
        rmSync(path, { force: true });
        removeIfEmpty(dirname(path), this.root);
        forgotten.payloads += 1;
        forgotten.bytes += size;
      }
    });
    return forgotten;
  }

  /**
   * Deletes what no payload and no living run can want: files of dead runs, half-written ones. What stands in the folder
   * of a living run stays whatever its age, which a clock that was set would falsify.
   */
  async sweep(): Promise<string[]> {
    // List the folders before the runs: every run with a folder has started by then.
    const [folders, files] = [foldersIn(this.root), filesBelow(this.root)];
    const living = new Set((await new Runs(this.#context).underway()).map(({ id }) => id));
    const old = files.filter((path) => !living.has(relative(this.root, path).split(sep, 1)[0]!) && this.#isOld(path));
    // Asked at once for all: a lock for each of ten thousand files that stay would cost every start seconds.
    const wanted = old.length === 0 ? new Set<string>() : await wantedPaths(this.#context);
    const swept: string[] = [];
    for (const path of old) {
      if (wanted.has(path)) continue;
      await this.release(path);
      if (!existsSync(path)) swept.push(path);
    }
    for (const name of folders) if (!living.has(name)) this.leave(name);
    return swept;
  }

  #isOld(path: string): boolean {
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return touched !== undefined && touched < this.#context.clock.now() - youngMs;
  }
}

/** Files that only delivered payloads have, in the order in which they may go. */
async function forgettable(context: StoreContext): Promise<Set<string>> {
  const { db } = context;
  const wanted = await db.selectFrom('outbox').select('path').where('state', 'in', kept).execute();
  const again = await new Resends(context).paths();
  const needed = new Set([...wanted.map(({ path }) => path), ...again]);
  const rows = await db
    .selectFrom(rankedPayloads({ db }).as('ranked'))
    .select(['path', 'rank'])
    .orderBy((order) => order.case().when('rank', '=', 1).then(1).else(0).end())
    .orderBy('settled_at')
    .execute();
  const shown = new Set(rows.filter(({ rank }) => rank === 1).map(({ path }) => path));
  const former = rows.filter(({ path, rank }) => !needed.has(path) && (rank === 1 || !shown.has(path)));
  return new Set(former.map(({ path }) => path));
}

/** What {@link isWanted} would say of each payload there is. */
async function wantedPaths(context: StoreContext): Promise<Set<string>> {
  const { db, clock, keep } = context;
  const inKept = await db.selectFrom('outbox').select('path').where('state', 'in', kept).execute();
  const former =
    keep === undefined
      ? []
      : await db
          .selectFrom(rankedPayloads({ db }).as('ranked'))
          .select('path')
          .where('rank', '<=', keep.payloads)
          .where('settled_at', '>=', clock.now() - keep.milliseconds)
          .execute();
  const again = await new Resends(context).paths();
  return new Set([...[...inKept, ...former].map(({ path }) => path), ...again]);
}

async function isWanted(context: StoreContext, path: string): Promise<boolean> {
  const stored = storedPath(context.folder, path);
  const rows = await context.db.selectFrom('outbox').selectAll().where('path', '=', stored).execute();
  if (rows.some(({ state }) => kept.includes(state))) return true;
  for (const row of rows) if (row.state === 'delivered' && (await isKept(context, row))) return true;
  return new Resends(context).needs(rows);
}

/** Among the newest that the instance was given, and not too old. A time in the future is a clock that was set back. */
async function isKept({ db, clock, keep, folder }: StoreContext, row: OutboxRow): Promise<boolean> {
  if (keep === undefined || clock.now() - (row.settled_at ?? 0) > keep.milliseconds) return false;
  const newer = await db
    .selectFrom('outbox')
    .select(({ fn }) => fn.count<number>('path').distinct().as('count'))
    .where('url', '=', row.url)
    .where('client_id', '=', row.client_id)
    .where('instance', '=', row.instance)
    .where('state', '=', 'delivered')
    .where('id', '>', row.id)
    .where('path', '<>', storedPath(folder, row.path))
    .executeTakeFirstOrThrow();
  return newer.count < keep.payloads;
}

function foldersIn(root: string): string[] {
  if (!existsSync(root)) return [];
  const entries = readdirSync(root, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
