import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest, Segment } from '../../kept-rows/manifest.ts';
import { filesBelow } from '../../lib/files-below.ts';
import { StateBlobs } from '../blobs/blobs.ts';
import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { removeIfEmpty, touchedAt } from '../folder-files.ts';
import { type Lease, Leases } from '../processes/leases.ts';
import { Runs } from '../runs/runs.ts';
import type { GenerationRow } from '../tables.ts';
import { type Backfill, Backfills } from './backfills.ts';
import { assertStored, fetchSegments, filesOf, isKept, keptRoot, stagedFiles } from './kept-files.ts';

/** The rows that a job keeps after one run. */
export interface Generation {
  /** Fingerprint of the query. Rows that were read with a different query can't be used. */
  readonly reading: string;
  /** Fingerprint of the output: the transforms and the target. */
  readonly shape: string;
  readonly manifest: Manifest;
}

/** The generation that the job's next run continues from. */
export interface CurrentGeneration extends Generation {
  /** The run that made it. */
  readonly run: string;
  /**
   * True if a payload with all rows of this generation was created. False after a restore, because it's then unknown
   * which data the instance shows.
   */
  readonly isShown: boolean;
}

/** The stored manifest. If this generation completes a backfill, it also contains the backfill that read the ranges. */
type KeptManifest = Manifest & { readonly backfill?: Backfill };

/** Grace period. A file that is newer than this is never swept, because its run may not have recorded the file yet. */
const youngMs = 10 * 60_000;
/** A payload in one of these states may still be sent. The rows of its run then become the current generation. */
const open = ['owed', 'quarantined', 'dead'] as const;

/**
 * Stores the rows that jobs keep so that their sources have to return only changes. Generations are immutable: each run
 * writes a new generation, which may share files with the previous one. A pointer selects the job's current generation.
 * The pointer changes only in the transaction that also changes the watermark and the payload (see `checkpoint.ts`).
 */
export class Generations extends Repository {
  /** The folder of all files. */
  get root(): string {
    return keptRoot(this.context);
  }

  /** Returns the generation that the job's next run continues from, or undefined if that run will read everything. */
  async find(job: string, reading: string): Promise<CurrentGeneration | undefined> {
    const row = await this.context.db
      .selectFrom('current_generations')
      .innerJoin('generations', 'generations.run', 'current_generations.run')
      .select(['generations.run', 'reading', 'shape', 'manifest', 'shown'])
      .where('current_generations.job', '=', job)
      .executeTakeFirst();
    if (row?.reading !== reading) return undefined;
    const { run, shape, shown } = row;
    return { run, reading, shape, manifest: JSON.parse(row.manifest) as Manifest, isShown: shown === 1 };
  }

  /** Returns the current generation of each job, or of one job. */
  async all(
    job?: string,
  ): Promise<readonly (Pick<CurrentGeneration, 'run' | 'manifest'> & { job: string; set_at: number })[]> {
    const query = this.context.db
      .selectFrom('current_generations')
      .innerJoin('generations', 'generations.run', 'current_generations.run')
      .select(['current_generations.job', 'generations.run', 'manifest', 'set_at'])
      .orderBy('current_generations.job');
    const rows = await (job === undefined ? query : query.where('current_generations.job', '=', job)).execute();
    return rows.map(({ manifest, ...row }) => ({ ...row, manifest: JSON.parse(manifest) as Manifest }));
  }

  /**
   * Returns the generation that a run created. Returns undefined if the run created none or if the generation was
   * deleted.
   */
  async ofRun(run: string): Promise<GenerationRow | undefined> {
    return this.context.db.selectFrom('generations').selectAll().where('run', '=', run).executeTakeFirst();
  }

  /** Fetches the files of segments that this machine doesn't have. Call this before reading them. */
  fetch(segments: readonly Segment[]): Promise<void> {
    return fetchSegments(this.context, segments);
  }

  /** Stores a run's generation, without making it current. Its files must already be stored. */
  async keep(given: Generation & { job: string; run: string; watermark: string | undefined }): Promise<void> {
    const { job, run, reading, shape, manifest, watermark = null } = given;
    await assertStored(this.context, manifest.segments);
    const present = await this.#present(job);
    const made_at = Math.round(this.context.clock.now());
    const values = { job, reading, shape, manifest: JSON.stringify(manifest), watermark, made_at };
    await this.context.db
      .insertInto('generations')
      .values({ run, parent: present?.run ?? null, ...values })
      .onConflict((conflict) => conflict.column('run').doUpdateSet(values))
      .execute();
  }

  /**
   * Makes a run's generation the current one. Keeps the previous generation, in case the run's payload is never
   * delivered.
   */
  async advance(job: string, run: string): Promise<void> {
    const present = await this.#present(job);
    const previous_run = present?.run === run ? present.previous_run : (present?.run ?? null);
    await this.#set(job, { run, previous_run });
    await this.#endBackfill(job, run);
  }

  /**
   * Makes the previous generation current again, because the run's payload won't be delivered. Does nothing if a later
   * run has continued from the run's generation. It's unknown whether the instance ever showed the previous generation,
   * because that generation's payload may have been superseded. If the run completed a backfill, stages the backfill's
   * ranges again so that the backfill can finish.
   */
  async takeBack(run: string): Promise<void> {
    const row = await this.context.db
      .selectFrom('current_generations')
      .selectAll()
      .where('run', '=', run)
      .executeTakeFirst();
    if (row === undefined) return;
    if (row.previous_run === null) return this.forget(row.job);
    await this.#set(row.job, { run: row.previous_run, previous_run: null, shown: 0 });
    const backfills = new Backfills(this.context);
    const ended = (await this.#manifestOf(run)).backfill;
    if (ended !== undefined && (await backfills.find(row.job)) === undefined) await backfills.set(ended);
  }

  /** Makes an earlier run's generation current, for a rollback. No previous generation is kept. */
  async goBackTo(job: string, run: string): Promise<void> {
    await this.#set(job, { run, previous_run: null });
  }

  /** Deletes the job's current generation and its backfill, so that the job's next run reads everything. */
  async forget(job: string): Promise<void> {
    await this.context.db.deleteFrom('current_generations').where('job', '=', job).execute();
    await this.context.db.deleteFrom('backfills').where('job', '=', job).execute();
  }

  /**
   * Records that it's unknown which data the instances show. The next run of each job then creates a payload with all
   * rows.
   */
  async doubt(): Promise<void> {
    await this.context.db.updateTable('current_generations').set({ shown: 0 }).execute();
  }

  /**
   * Deletes the generations that can no longer become current, and the files that only they use. If a job is given,
   * does so only for this job.
   */
  async prune(job?: string): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const all = inside.db.selectFrom('generations').select(['run', 'manifest']);
      const rows = await (job === undefined ? all : all.where('job', '=', job)).execute();
      const wanted = await wantedRuns(inside, job);
      const gone = rows.filter(({ run }) => !wanted.has(run));
      for (const { run } of gone) await inside.db.deleteFrom('generations').where('run', '=', run).execute();
      for (const file of new Set(gone.flatMap(filesOf)))
        if (!(await isKept(inside, file))) await this.#remove(inside, file);
    });
  }

  /** Deletes the files of a run that has ended, except for files that a generation or backfill uses. */
  async leave(run: string): Promise<void> {
    if (!existsSync(join(this.root, run))) return;
    await inTransaction(this.context, async (inside) => {
      for (const path of filesBelow(join(this.root, run))) {
        const file = path.slice(this.root.length + 1);
        if (!(await isKept(inside, file))) await this.#remove(inside, file);
      }
      removeIfEmpty(join(this.root, run), this.root);
    });
  }

  /**
   * Takes a lease on a folder in which this process writes files that don't belong to a run. The folder isn't swept
   * until the lease is released.
   */
  hold(folder: string): Promise<Lease | undefined> {
    return new Leases(this.context).take(leaseOf(folder));
  }

  /**
   * Deletes files that no generation, backfill or live process needs. `withBlobs`: also blobs of which this machine has
   * no copy. Returns the paths of the deleted files.
   */
  async sweep({ withBlobs = true } = {}): Promise<string[]> {
    const stored = withBlobs ? await new StateBlobs(this.context).below(this.root) : new Map<string, number>();
    const files = new Set([...filesBelow(this.root), ...stored.keys()]);
    if (files.size === 0) return [];
    return inTransaction(this.context, async (inside) => {
      const living = new Set((await new Runs(inside).underway()).map(({ id }) => id));
      const kept = await new Generations(inside).files();
      const swept: string[] = [];
      for (const path of files) {
        const touched = stored.get(path) ?? touchedAt(path);
        const file = path.slice(this.root.length + 1);
        const folder = file.split('/', 1)[0]!;
        if (kept.has(file) || living.has(folder) || touched > inside.clock.now() - youngMs) continue;
        if ((await new Leases(inside).holder(leaseOf(folder))) !== undefined) continue;
        await this.#remove(inside, file);
        swept.push(path);
      }
      return swept;
    });
  }

  /** Returns the files of all generations and all unfinished backfills, relative to {@link root}. */
  async files(): Promise<Set<string>> {
    const { db } = this.context;
    const rows = await db.selectFrom('generations').select('manifest').execute();
    const backfills = await db.selectFrom('backfills').select('staged').execute();
    return new Set([...rows.flatMap(filesOf), ...backfills.flatMap(stagedFiles)]);
  }

  #present(job: string) {
    return this.context.db.selectFrom('current_generations').selectAll().where('job', '=', job).executeTakeFirst();
  }

  async #set(
    job: string,
    { run, previous_run, shown = 1 }: { run: string; previous_run: string | null; shown?: number },
  ): Promise<void> {
    const values = { run, previous_run, shown, set_at: Math.round(this.context.clock.now()) };
    await this.context.db
      .insertInto('current_generations')
      .values({ job, ...values })
      .onConflict((conflict) => conflict.column('job').doUpdateSet(values))
      .execute();
  }

  async #manifestOf(run: string): Promise<Partial<KeptManifest>> {
    return JSON.parse((await this.ofRun(run))?.manifest ?? '{}') as Partial<KeptManifest>;
  }

  /**
   * Ends the backfill, because its ranges are now part of the kept rows. Stores the backfill with the generation, in
   * case the run's payload is never delivered.
   */
  async #endBackfill(job: string, run: string): Promise<void> {
    const manifest = await this.#manifestOf(run);
    const backfills = new Backfills(this.context);
    const backfill = manifest.filled === undefined ? undefined : await backfills.find(job);
    if (backfill === undefined || backfill.staged?.id !== manifest.filled) return;
    await this.context.db
      .updateTable('generations')
      .set({ manifest: JSON.stringify({ ...manifest, backfill }) })
      .where('run', '=', run)
      .execute();
    await backfills.end(job);
  }

  async #remove(inside: StoreContext, file: string): Promise<void> {
    await new StateBlobs(inside).drop(join(this.root, file));
    removeIfEmpty(join(this.root, file.split('/', 1)[0]!), this.root);
  }
}

/**
 * Returns the runs whose generations a job may still continue from: the current generations and the ones before them,
 * and the generations whose payloads can still be sent or rolled back to.
 */
async function wantedRuns(context: StoreContext, job: string | undefined): Promise<Set<string>> {
  const { db } = context;
  const sets = await db.selectFrom('current_generations').select(['run', 'previous_run']).execute();
  const made = db
    .selectFrom('generations')
    .innerJoin('outbox', 'outbox.run', 'generations.run')
    .select(['outbox.run', 'outbox.state', 'outbox.path'])
    .where('outbox.state', 'in', [...open, 'delivered']);
  const payloads = await (job === undefined ? made : made.where('generations.job', '=', job)).execute();
  const paths = payloads.filter(({ state }) => state === 'delivered').map(({ path }) => path);
  const there = await new StateBlobs(context).sizes(paths);
  const wanted = payloads.filter(({ state, path }) => state !== 'delivered' || there.has(path));
  return new Set([
    ...sets.flatMap(({ run, previous_run }) => [run, previous_run ?? run]),
    ...wanted.map(({ run }) => run),
  ]);
}

const leaseOf = (folder: string): string => `set:${folder}`;
