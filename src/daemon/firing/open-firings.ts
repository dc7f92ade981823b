/**
 * A firing that came due. Two firings of a job can have the same planned time if the clock was set back between them.
 */
export interface OpenFiring {
  /** The firing's planned time, in epoch milliseconds. */
  readonly at: number;
}

/** The firings of each job that came due but have neither started nor been skipped. */
export class OpenFirings {
  readonly #byJob = new Map<string, Set<OpenFiring>>();

  add(job: string, at: number): OpenFiring {
    const [firing, open] = [{ at }, this.#byJob.get(job)];
    if (open === undefined) this.#byJob.set(job, new Set([firing]));
    else open.add(firing);
    return firing;
  }

  delete(job: string, firing: OpenFiring): void {
    const open = this.#byJob.get(job);
    if (open?.delete(firing) === true && open.size === 0) this.#byJob.delete(job);
  }

  /** Returns the earliest planned time among a job's open firings, or infinity if there are none. */
  first(job: string): number {
    return Math.min(...[...(this.#byJob.get(job) ?? [])].map(({ at }) => at), Number.POSITIVE_INFINITY);
  }
}
