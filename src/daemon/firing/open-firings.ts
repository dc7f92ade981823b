/**
 * A firing that came due. Two of a job's firings can have the same planned time if the clock was set back between them.
 */
export interface OpenFiring {
  /** Its planned time, epoch milliseconds. */
  readonly at: number;
}

/** Firings that came due but have neither started nor been skipped, by job. */
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

  /** The earliest planned time of a job's open firings; infinity if there are none. */
  first(job: string): number {
    return Math.min(...[...(this.#byJob.get(job) ?? [])].map(({ at }) => at), Number.POSITIVE_INFINITY);
  }
}
