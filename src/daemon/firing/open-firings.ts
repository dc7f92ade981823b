/** Firings that came due and have neither begun nor been skipped: the instants per job. */
export class OpenFirings {
  readonly #byJob = new Map<string, Set<number>>();

  add(job: string, at: number): void {
    const open = this.#byJob.get(job);
    if (open === undefined) this.#byJob.set(job, new Set([at]));
    else open.add(at);
  }

  delete(job: string, at: number): void {
    const open = this.#byJob.get(job);
    if (open?.delete(at) === true && open.size === 0) this.#byJob.delete(job);
  }

  /** The first one of a job; infinity if there is none. */
  first(job: string): number {
    return Math.min(...(this.#byJob.get(job) ?? []), Number.POSITIVE_INFINITY);
  }
}
