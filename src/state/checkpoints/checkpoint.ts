import type { StoreContext } from '../engine/context.ts';
import { type Generation, Generations } from './generations.ts';
import { Watermarks } from './watermarks.ts';

/**
 * How far a job has come: its watermark, and the data set of those that keep their rows. They only move together, and only
 * in the transaction that says what becomes of the payload: a set is never ahead of what its instance will show, and
 * never behind.
 */
export interface Checkpoint {
  readonly job: string;
  readonly run: string;
  readonly watermark?: { readonly reading: string; readonly text: string };
  readonly generation?: Generation;
}

/** A run's payload is held back: what it would move to is kept beside. */
export async function holdCheckpoint(
  inside: StoreContext,
  { job, run, watermark, generation }: Checkpoint,
): Promise<void> {
  if (generation === undefined) return;
  await new Generations(inside).keep({ job, run, ...generation, watermark: watermark?.text });
}

/** A run's payload is owed, or its instance shows these very bytes. */
export async function advanceCheckpoint(inside: StoreContext, place: Checkpoint): Promise<void> {
  const { job, run, watermark, generation } = place;
  if (watermark !== undefined) await new Watermarks(inside).set({ job, run, ...watermark });
  await holdCheckpoint(inside, place);
  const sets = new Generations(inside);
  // A job that keeps its rows no longer has no use for those of then.
  await (generation === undefined ? sets.forget(job) : sets.advance(job, run));
}

/** A payload that was held back is owed now. */
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

/** The payload of a run will not be delivered: what it had read is read again, unless a later run has gone on from it. */
export async function rewindCheckpoint(inside: StoreContext, run: string): Promise<void> {
  await new Watermarks(inside).takeBack(run);
  await new Generations(inside).takeBack(run);
}

/** A payload that was given up is owed again: advances the checkpoint again, unless a later run has moved it. */
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
 * A person puts the payload of `former` back, in the run `run`: the job goes on from what was known then. Where that is
 * not there any more, it reads everything.
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
