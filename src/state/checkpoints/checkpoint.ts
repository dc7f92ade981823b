import type { StoreContext } from '../engine/context.ts';
import { type Generation, Generations } from './generations.ts';
import { Watermarks } from './watermarks.ts';

/**
 * A job's checkpoint: its watermark and, if the job keeps rows, their generation. Both change only together, and only
 * in the transaction that settles the payload, so kept rows are never ahead of or behind what the instance will show.
 */
export interface Checkpoint {
  readonly job: string;
  readonly run: string;
  readonly watermark?: { readonly reading: string; readonly text: string };
  readonly generation?: Generation;
}

/** Stores the checkpoint of a quarantined payload without applying it. */
export async function holdCheckpoint(
  inside: StoreContext,
  { job, run, watermark, generation }: Checkpoint,
): Promise<void> {
  if (generation === undefined) return;
  await new Generations(inside).keep({ job, run, ...generation, watermark: watermark?.text });
}

/** Applies the checkpoint of a run whose payload is owed, or whose bytes the instance already shows. */
export async function advanceCheckpoint(inside: StoreContext, place: Checkpoint): Promise<void> {
  const { job, run, watermark, generation } = place;
  if (watermark !== undefined) await new Watermarks(inside).set({ job, run, ...watermark });
  await holdCheckpoint(inside, place);
  const sets = new Generations(inside);
  // If the job no longer keeps rows, its old rows are useless.
  await (generation === undefined ? sets.forget(job) : sets.advance(job, run));
}

/** Applies the stored checkpoint of a payload that leaves quarantine. */
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
 * Undoes the checkpoint of a run whose payload won't be delivered, so that the same data is read again. Does nothing if
 * a later run has continued from it.
 */
export async function rewindCheckpoint(inside: StoreContext, run: string): Promise<void> {
  await new Watermarks(inside).takeBack(run);
  await new Generations(inside).takeBack(run);
}

/** If a dead payload is owed again, applies its checkpoint again, unless a later run has moved it. */
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
 * For a rollback to the payload of run `former`, made by run `run`: the job continues from the checkpoint of `former`.
 * If that checkpoint no longer exists, the job reads everything.
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
