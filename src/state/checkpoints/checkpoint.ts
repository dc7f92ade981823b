import type { StoreContext } from '../engine/context.ts';
import { type Generation, Generations } from './generations.ts';
import { Watermarks } from './watermarks.ts';

/**
 * A job's checkpoint: its watermark and, if the job keeps rows, the generation of these rows. Both change only
 * together, in the transaction that settles the payload. The kept rows therefore always match the data that the
 * instance will show.
 */
export interface Checkpoint {
  readonly job: string;
  readonly run: string;
  readonly watermark?: { readonly reading: string; readonly text: string };
  readonly generation?: Generation;
}

/** Stores the checkpoint of a quarantined payload, without applying it. */
export async function holdCheckpoint(
  inside: StoreContext,
  { job, run, watermark, generation }: Checkpoint,
): Promise<void> {
  if (generation === undefined) return;
  await new Generations(inside).keep({ job, run, ...generation, watermark: watermark?.text });
}

/** Applies the checkpoint of a run if the run's payload is owed, or if the instance already shows the same bytes. */
export async function advanceCheckpoint(inside: StoreContext, place: Checkpoint): Promise<void> {
  const { job, run, watermark, generation } = place;
  if (watermark !== undefined) await new Watermarks(inside).set({ job, run, ...watermark });
  await holdCheckpoint(inside, place);
  const sets = new Generations(inside);
  // If the job no longer keeps rows, its old rows aren't needed.
  await (generation === undefined ? sets.forget(job) : sets.advance(job, run));
}

/** Applies the checkpoint that was stored for a quarantined payload. Call this when the payload leaves quarantine. */
export async function advanceHeldCheckpoint(
  inside: StoreContext,
  place: Omit<Checkpoint, 'generation'>,
): Promise<void> {
  const { job, run, watermark } = place;
  const sets = new Generations(inside);
  if ((await sets.ofRun(run)) === undefined) return advanceCheckpoint(inside, place);
  if (watermark !== undefined) await new Watermarks(inside).set({ job, run, ...watermark });
  await sets.advance(job, run);
}

/**
 * Undoes a run's checkpoint, so that the same data is read again. Call this if the run's payload won't be delivered.
 * Does nothing if a later run has continued from the checkpoint.
 */
export async function rewindCheckpoint(inside: StoreContext, run: string): Promise<void> {
  await new Watermarks(inside).takeBack(run);
  await new Generations(inside).takeBack(run);
}

/**
 * Applies a run's checkpoint again. Call this if the run's dead payload is owed again. Does nothing if the job's
 * checkpoint has changed in the meantime.
 */
export async function readvanceCheckpoint(
  inside: StoreContext,
  { job, run }: { job: string; run: string },
): Promise<void> {
  const sets = new Generations(inside);
  const generation = await sets.ofRun(run);
  const present = await inside.db
    .selectFrom('current_generations')
    .select('run')
    .where('job', '=', job)
    .executeTakeFirst();
  if (generation === undefined || (present?.run ?? null) !== generation.parent) return;
  const { reading, watermark: text } = generation;
  if (text !== null) await new Watermarks(inside).set({ job, run, reading, text });
  await sets.advance(job, run);
}

/**
 * Restores the checkpoint of run `former` for a rollback to its payload. The rollback itself is recorded as run `run`.
 * If no kept rows are stored for `former`, the job's next run reads everything.
 */
export async function restoreCheckpoint(
  inside: StoreContext,
  { job, former, run }: { job: string; former: string; run: string },
): Promise<void> {
  const [sets, watermarks] = [new Generations(inside), new Watermarks(inside)];
  const generation = await sets.ofRun(former);
  await watermarks.forget(job);
  if (generation === undefined) return sets.forget(job);
  const { reading, shape, watermark: text } = generation;
  const manifest = JSON.parse(generation.manifest) as Generation['manifest'];
  await sets.keep({ job, run, reading, shape, manifest, watermark: text ?? undefined });
  await sets.goBackTo(job, run);
  if (text !== null) await watermarks.set({ job, run, reading, text });
}
