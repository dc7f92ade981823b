import PQueue from 'p-queue';
import type { Config, Job, Source } from '../../config/config.ts';
import { openLogins, type Runtime } from '../compose.ts';
import { readChecks, type SourceCheck, saveCheck } from './check-results.ts';
import { checkSource } from './check-source.ts';

export interface SourceChecksOptions {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock' | 'log' | 'loginGate'>;
  /** The active config. */
  readonly config: () => Config;
}

/** Maximum number of concurrent checks. Runs take precedence over checks. */
const atATime = 2;
/** Interval for rechecking a source that didn't respond, unless the source's own interval is shorter. */
const againMs = 15 * 60_000;
/** Polling interval for state changes made by other processes. */
const lookEveryMs = 10 * 60_000;
/** Polling interval while a run is reading the source. */
const besideMs = 60_000;
const restMs = 1_000;

/**
 * Checks sources on a schedule of its own, so that users learn about an unreachable source before the next run fails. A
 * run that read the source counts as a check. A check never overlaps with a run that reads the same source: the check
 * waits or is canceled.
 */
export class SourceChecks {
  readonly #given: SourceChecksOptions;
  readonly #stop = new AbortController();
  readonly #queue = new PQueue({ concurrency: atATime });
  /** Sources that are being checked or are about to be checked. */
  readonly #under = new Map<string, AbortController>();
  /** Sources that the startup probe hasn't checked yet. */
  #wanted = new Set<string>();
  #nap = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #deaf: () => void = () => undefined;

  constructor(given: SourceChecksOptions) {
    this.#given = given;
  }

  /**
   * Starts checking sources. With `probe`, first checks each source that an enabled job uses, even if the source isn't
   * due for a check.
   */
  start({ probe }: { probe: boolean }): void {
    const { events } = this.#given.runtime;
    if (probe)
      this.#wanted = new Set([...sourcesOf(this.#given.config().jobs.values()).keys()].map(({ name }) => name));
    this.#deaf = events.listen((...[name, facts]) => {
      if (name === 'run.started') this.#giveWay(facts.job);
      if (name === 'run.finished' || name === 'config.reloaded') this.#nap.abort();
    });
    this.#loop = this.#run();
  }

  /** Stops immediately, and discards the checks in progress. */
  async stop(): Promise<void> {
    this.#deaf();
    this.#stop.abort(new Error('the daemon stops'));
    this.#nap.abort();
    await this.#loop;
    await this.#queue.onIdle();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, log } = this.#given.runtime;
    while (!signal.aborted) {
      this.#nap = new AbortController();
      const wait = await this.#round().catch((error: unknown) => {
        log.error('the source checks failed', { error: String(error) });
        return lookEveryMs;
      });
      const until = AbortSignal.any([this.#nap.signal, signal]);
      await clock.sleep(Math.min(wait, lookEveryMs), until).catch(() => undefined);
      await clock.sleep(restMs, signal).catch(() => undefined);
    }
  }

  /** Starts the checks that are due. Returns the time until the next check, in milliseconds. */
  async #round(): Promise<number> {
    const { runtime, config: current } = this.#given;
    const { store, clock } = runtime;
    const config = current();
    const [checks, lasts, held] = await Promise.all([readChecks(store), store.runs.lasts(), store.leases.held()]);
    const readAt = new Map(lasts.map(({ job, started_at }) => [job, started_at]));
    const running = new Set(held.map(({ name }) => name));
    const onHold = await this.#onHold(config);
    const waits = [...sourcesOf(config.jobs.values())].map(([source, jobs]) => {
      const check = checks.get(source.name);
      const runAt = Math.max(0, ...jobs.map(({ name }) => readAt.get(name) ?? 0));
      const wait = this.#dueAt(source, { check, runAt }) - clock.now();
      if (wait > 0 || this.#under.has(source.name)) return Math.max(wait, restMs);
      // A run in progress shows more about the source than a check would. When a run in this process ends, it wakes
      // this loop.
      if (jobs.some(({ name }) => running.has(`job:${name}`))) return besideMs;
      if (onHold.has(source.name)) return againMs;
      this.#begin(source, { config, before: check });
      return restMs;
    });
    return Math.min(lookEveryMs, ...waits);
  }

  /** If a source's login is on hold, the source isn't contacted until the next login attempt is due. */
  async #onHold({ sources }: Config): Promise<ReadonlySet<string>> {
    const { store, loginGate } = this.#given.runtime;
    const names = new Set<string>();
    if ((await store.loginHolds.all()).length === 0) return names;
    for (const source of sources.values()) {
      if ((await loginGate.blocking(source)) !== undefined) names.add(source.name);
    }
    return names;
  }

  /**
   * Returns when to check a source next, in epoch milliseconds. `runAt` is the time when the last run that read the
   * source started.
   */
  #dueAt({ name, checkEveryMs }: Source, { check, runAt }: { check: SourceCheck | undefined; runAt: number }): number {
    if (this.#wanted.has(name)) return 0;
    const every = checkEveryMs ?? Number.POSITIVE_INFINITY;
    if (check?.trouble !== undefined && check.at > runAt) return check.at + Math.min(againMs, every);
    return Math.max(check?.at ?? 0, runAt) + every;
  }

  #begin(source: Source, around: { config: Config; before: SourceCheck | undefined }): void {
    const { name } = source;
    const cancel = new AbortController();
    this.#under.set(name, cancel);
    this.#wanted.delete(name);
    const signal = AbortSignal.any([this.#stop.signal, cancel.signal]);
    const { log } = this.#given.runtime;
    void this.#queue
      .add(() => this.#look(source, { ...around, signal }))
      .catch((error: unknown) => {
        if (!signal.aborted) log.error('a source check failed', { source: name, error: String(error) });
      })
      .finally(() => {
        this.#under.delete(name);
        this.#nap.abort();
      });
  }

  async #look(
    source: Source,
    { config, before, signal }: { config: Config; before: SourceCheck | undefined; signal: AbortSignal },
  ): Promise<void> {
    signal.throwIfAborted();
    const { store, events, clock, log, loginGate } = this.#given.runtime;
    const logins = await openLogins({ store, events, clock, config });
    const began = clock.monotonic();
    try {
      const answer = await checkSource(source, { config, logins, loginGate, clock, log, signal });
      const check = await saveCheck(store, answer, { source: source.name, at: clock.now(), before });
      const facts = { source: source.name, milliseconds: clock.monotonic() - began };
      if (check.trouble === undefined) events.emit('source.answered', facts);
      else events.emit('source.failed', { ...facts, ...check.trouble });
    } finally {
      await logins.close();
    }
  }

  /** A run is about to read the source. The run counts as a check. */
  #giveWay(job: string): void {
    const source = this.#given.config().jobs.get(job)?.extract?.source.name;
    if (source !== undefined) this.#under.get(source)?.abort(new Error('a run reads the source'));
  }
}

/** The sources of enabled jobs, each with the jobs that use it. */
export function sourcesOf(jobs: Iterable<Job>): Map<Source, Job[]> {
  const found = new Map<string, { source: Source; jobs: Job[] }>();
  for (const job of jobs) {
    if (!job.enabled || job.extract === undefined) continue;
    const { source } = job.extract;
    const known = found.get(source.name) ?? { source, jobs: [] };
    known.jobs.push(job);
    found.set(source.name, known);
  }
  return new Map([...found.values()].map(({ source, jobs: readers }) => [source, readers]));
}
