import type { TransformStep } from '../config/config.ts';
import { Problem, type ProblemLocation } from '../lib/problem.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { Prepared, PreparedExpansion } from '../transforms/transform.ts';

interface Step {
  readonly prepared: Prepared | PreparedExpansion;
  readonly where: ProblemLocation;
  /** Number of rows that an expansion has produced. */
  expanded: number;
}

/** A job's transforms in order, prepared for one run. */
export class Chain {
  /** The columns after all transforms. */
  readonly columns: readonly Column[];
  readonly #steps: readonly Step[];

  /** Throws a Problem of family `config` that names the step if a step doesn't fit its input columns. */
  constructor(transforms: readonly TransformStep[], columns: readonly Column[]) {
    const steps: Step[] = [];
    for (const { transform, given } of transforms) {
      const where = { stage: `transform ${steps.length + 1} (${transform.id})` };
      const prepared = placed(where, () => transform.prepare(given, columns));
      steps.push({ prepared, where, expanded: 0 });
      columns = prepared.columns;
    }
    this.#steps = steps;
    this.columns = columns;
  }

  /** True once further batches can't change the result. */
  get satisfied(): boolean {
    return this.#steps.some(({ prepared }) => prepared.satisfied === true);
  }

  /**
   * Transforms one of the source's batches; `before` is the number of earlier rows in the run. Yields the remaining
   * rows, which can be several batches.
   */
  apply(batch: Batch, before: number): Iterable<Batch> {
    return this.#through(0, batch, before);
  }

  /** Returns the batches that steps held back, in order. Call this after the last batch. */
  *finish(): Iterable<Batch> {
    for (const [index, { prepared, where }] of this.#steps.entries()) {
      for (const held of placedEach(where, prepared.finish?.() ?? [])) {
        yield* this.#through(index + 1, held, 0);
        if (this.#satisfiedAfter(index)) break;
      }
    }
  }

  *#through(from: number, batch: Batch, before: number): Iterable<Batch> {
    let current: Batch | null = batch;
    for (let index = from; current !== null && index < this.#steps.length; index++) {
      const { prepared, where } = this.#steps[index]!;
      const input: Batch = current;
      if ('expand' in prepared) {
        yield* this.#expanded(index, placedEach(where, prepared.expand(input, before)));
        return;
      }
      current = placed(where, () => prepared.apply(input, before));
    }
    if (current !== null && current.length > 0) yield current;
  }

  *#expanded(index: number, batches: Iterable<Batch>): Iterable<Batch> {
    const step = this.#steps[index]!;
    for (const batch of batches) {
      yield* this.#through(index + 1, batch, step.expanded);
      step.expanded += batch.length;
      if (this.#satisfiedAfter(index)) return;
    }
  }

  #satisfiedAfter(index: number): boolean {
    return this.#steps.some(({ prepared }, other) => other > index && prepared.satisfied === true);
  }
}

function placed<T>(where: ProblemLocation, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof Problem ? thrown.at(where) : thrown;
  }
}

function* placedEach(where: ProblemLocation, batches: Iterable<Batch>): Iterable<Batch> {
  const iterator = batches[Symbol.iterator]();
  for (;;) {
    const step = placed(where, () => iterator.next());
    if (step.done === true) return;
    yield step.value;
  }
}
