import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Manifest, StagedRanges } from '../../kept-rows/manifest.ts';
import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { filesBelow, removeIfEmpty, touchedAt } from '../folder-files.ts';
import { type Lease, Leases } from '../processes/leases.ts';
import { Runs } from '../runs/runs.ts';
import type { GenerationRow } from '../tables.ts';
import { type Backfill, Backfills } from './backfills.ts';

/** A job's kept rows after one run. */
export interface Generation {
  /** Query fingerprint. Rows of another query can't be used. */
  readonly reading: string;
  /** Output fingerprint, of the transforms and the target. */
  readonly shape: string;
  readonly manifest: Manifest;
}

/** The generation that the job's next run continues from. */
export interface CurrentGeneration extends Generation {
  /** The run that made it. */
  readonly run: string;
  /**
   * True if a payload contains all its rows. False after a restore, because the instance's contents are then unknown.
   */
  readonly isShown: boolean;
}

/** The stored manifest and, if this generation ends a backfill, the backfill that read its ranges. */
type KeptManifest = Manifest & { readonly backfill?: Backfill };

/** Grace period: a newer file is never swept, because a run may not have recorded it yet. */
const youngMs = 10 * 60_000;
/** A payload in one of these states may still be sent, and its rows then become the current generation. */
const open = ['owed', 'quarantined', 'dead'] as const;

/**
 * The kept rows of jobs, which allow a source to return only changes. Generations are immutable: each run writes a new
 * one, which may share files with the previous one, and a pointer selects the current one. The pointer only moves in
 * the same transaction as the watermark and the payload: see `checkpoint.ts`.
 */
export class Generations extends Repository {
  /** The folder of all files. */
  get root(): string {
    return join(this.context.folder, 'sets');
  }

  /** The generation that the job's next run continues from; undefined if that run reads everything. */
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

  /** The current generations of all jobs, or of one. */
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

  /** The generation that a run created; undefined if the run created none or it was deleted. */
  async ofRun(run: string): Promise<GenerationRow | undefined> {
    return this.context.db.selectFrom('generations').selectAll().where('run', '=', run).executeTakeFirst();
  }

  /** Records a generation next to the current one. Its files must already be synced to disk. */
  async keep(given: Generation & { job: string; run: string; watermark: string | undefined }): Promise<void> {
    const { job, run, reading, shape, manifest, watermark = null } = given;
    const present = await this.#present(job);
    const made_at = Math.round(this.context.clock.now());
    const values = { job, reading, shape, manifest: JSON.stringify(manifest), watermark, made_at };
    await this.context.db
      .insertInto('generations')
      .values({ run, parent: present?.run ?? null, ...values })
      .onConflict((conflict) => conflict.column('run').doUpdateSet(values))
      .execute();
  }

  /** Makes a run's generation the current one. Keeps the previous one in case the run's payload is never delivered. */
  async advance(job: string, run: string): Promise<void> {
    const present = await this.#present(job);
    const previous_run = present?.run === run ? present.previous_run : (present?.run ?? null);
    await this.#set(job, { run, previous_run });
    await this.#endBackfill(job, run);
  }

  /**
   * Restores the previous generation because the run's payload won't be delivered, unless a later run has continued
   * from the run's generation. Whether the instance ever showed the previous generation is unknown, because its payload
   * may have been superseded. The ranges of a backfill are staged again, so that it can finish.
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

  /** Rollback: makes an earlier run's generation current. No previous one is kept to return to. */
  async goBackTo(job: string, run: string): Promise<void> {
    await this.#set(job, { run, previous_run: null });
  }

  /** Makes the job's next run read everything. */
  async forget(job: string): Promise<void> {
    await this.context.db.deleteFrom('current_generations').where('job', '=', job).execute();
    await this.context.db.deleteFrom('backfills').where('job', '=', job).execute();
  }

  /** Records that the instances' contents are unknown, so each job's next run builds a payload with all its rows. */
  async doubt(): Promise<void> {
    await this.context.db.updateTable('current_generations').set({ shown: 0 }).execute();
  }

  /** Deletes generations (of one job or all) that can no longer become current, and the files that only they use. */
  async prune(job?: string): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const all = inside.db.selectFrom('generations').select(['run', 'manifest']);
      const rows = await (job === undefined ? all : all.where('job', '=', job)).execute();
      const wanted = await wantedRuns(inside, job);
      const gone = rows.filter(({ run }) => !wanted.has(run));
      for (const { run } of gone) await inside.db.deleteFrom('generations').where('run', '=', run).execute();
      for (const file of new Set(gone.flatMap(filesOf))) if (!(await isKept(inside, file))) this.#remove(file);
    });
  }

  /** Deletes the files of an ended run, unless they became a generation. */
  async leave(run: string): Promise<void> {
    if (!existsSync(join(this.root, run))) return;
    await inTransaction(this.context, async (inside) => {
      for (const path of filesBelow(join(this.root, run))) {
        const file = path.slice(this.root.length + 1);
        if (!(await isKept(inside, file))) this.#remove(file);
      }
      removeIfEmpty(join(this.root, run), this.root);
    });
  }

  /**
   * Takes a lease on a folder that this process writes outside a run. The folder isn't swept until the lease is
   * released.
   */
  hold(folder: string): Promise<Lease | undefined> {
    return new Leases(this.context).take(leaseOf(folder));
  }

  /** Deletes files that neither a generation nor a live run can use. Returns their paths. */
  async sweep(): Promise<string[]> {
    const files = filesBelow(this.root);
    if (files.length === 0) return [];
    return inTransaction(this.context, async (inside) => {
      const living = new Set((await new Runs(inside).underway()).map(({ id }) => id));
      const kept = await new Generations(inside).files();
      const swept: string[] = [];
      for (const { path, touched } of files.map((path) => ({ path, touched: touchedAt(path) }))) {
        const file = path.slice(this.root.length + 1);
        const folder = file.split('/', 1)[0]!;
        if (kept.has(file) || living.has(folder) || touched > inside.clock.now() - youngMs) continue;
        if ((await new Leases(inside).holder(leaseOf(folder))) !== undefined) continue;
        this.#remove(file);
        swept.push(path);
      }
      return swept;
    });
  }

  /** The files of all generations and unfinished backfills, relative to {@link root}. */
  async files(): Promise<Set<string>> {
    const { db } = this.context;
    const rows = await db.selectFrom('generations').select('manifest').execute();
    const backfills = await db.selectFrom('backfills').select('staged').execute();
    const staged = backfills.flatMap(({ staged }) =>
      staged === null ? [] : (JSON.parse(staged) as StagedRanges).segments,
    );
    return new Set([...rows.flatMap(filesOf), ...staged.map(({ file }) => file)]);
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
   * Ends the backfill, because its ranges are now part of the kept rows. The backfill is saved with the generation in
   * case the payload is never delivered.
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

  #remove(file: string): void {
    rmSync(join(this.root, file), { force: true });
    removeIfEmpty(join(this.root, file.split('/', 1)[0]!), this.root);
  }
}

/**
 * Runs whose generations a job may still continue from: the current ones, and those whose payloads can still be sent or
 * rolled back to.
 */
async function wantedRuns({ db }: StoreContext, job: string | undefined): Promise<Set<string>> {
  const sets = await db.selectFrom('current_generations').select(['run', 'previous_run']).execute();
  const made = db
    .selectFrom('generations')
    .innerJoin('outbox', 'outbox.run', 'generations.run')
    .select(['outbox.run', 'outbox.state', 'outbox.path'])
    .where('outbox.state', 'in', [...open, 'delivered']);
  const payloads = await (job === undefined ? made : made.where('generations.job', '=', job)).execute();
  const wanted = payloads.filter(({ state, path }) => state !== 'delivered' || existsSync(path));
  return new Set([
    ...sets.flatMap(({ run, previous_run }) => [run, previous_run ?? run]),
    ...wanted.map(({ run }) => run),
  ]);
}

const leaseOf = (folder: string): string => `set:${folder}`;

/** Whether a generation of any job, or an unfinished backfill, uses the file. */
async function isKept({ db }: StoreContext, file: string): Promise<boolean> {
  const named = `%${JSON.stringify(file).replaceAll(/[%_\\]/g, '\\$&')}%`;
  const generation = await db
    .selectFrom('generations')
    .select('run')
    .where(sql<boolean>`manifest like ${named} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  if (generation !== undefined) return true;
  const backfill = await db
    .selectFrom('backfills')
    .select('job')
    .where(sql<boolean>`staged like ${named} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  return backfill !== undefined;
}

function filesOf({ manifest }: { readonly manifest: string }): string[] {
  return (JSON.parse(manifest) as Manifest).segments.map(({ file }) => file);
}
