import type { SluiceEvents } from '../../daemon/events.ts';
import type { Events } from '../../lib/events.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import type { Timer, TimerHooks } from '../../schedule/timer.ts';
import { isFailedRun } from '../../state/runs/failed-run.ts';

/** One job's counts and times. All times are in milliseconds. */
export interface JobRecord {
  readonly job: string;
  firings: number;
  runs: number;
  /** Number of retries of runs whose source failed. */
  attempts: number;
  /** Number of firings that occurred while the job was already running or queued. */
  overlaps: number;
  skipped: number;
  /** Planned instants of firings that were throttled, in epoch milliseconds. */
  readonly throttled: number[];
  delivered: number;
  unchanged: number;
  superseded: number;
  failed: number;
  dead: number;
  /** Number of runs that failed, or whose payload is dead, since the last successful run. */
  lost: number;
  requests: number;
  retries: number;
  /** Delay of each run: the time between the firing's planned instant and the run's start. */
  readonly lateness: number[];
  /** Delay of each delivery: the time between a payload becoming owed and its delivery. */
  readonly waits: number[];
}

/** The outbox at its largest size, and the time when it had that size. */
export interface Peak {
  readonly payloads: number;
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

interface Owed {
  readonly job: string;
  readonly since: number;
  readonly bytes: number;
}

const usagePath = '/usage-overview/';

type Listener = Parameters<Events<SluiceEvents>['listen']>[0];
type EventArguments = Parameters<Listener>;

/** Records the events of a simulation. */
export class Recorder {
  readonly jobs: ReadonlyMap<string, JobRecord>;
  /** Number of requests that query the service's usage, by account. */
  readonly usageQueries = new Map<string, number>();
  readonly #clock: VirtualClock;
  readonly #bytesOf: (job: string) => number;
  readonly #until: number;
  /** Planned instants of firings whose runs haven't started. */
  readonly #fired = new Map<string, number[]>();
  readonly #running = new Set<string>();
  /** Owed payloads, by run ID. */
  readonly #owed = new Map<string, Owed>();
  /** IDs of runs whose payload is dead. An ID stays listed even if the payload is superseded later. */
  readonly #dead = new Set<string>();
  /** Each job's last run that failed or whose payload is dead. */
  readonly #lastLost = new Map<string, string>();
  #owedBytes = 0;
  #peak: Peak = { payloads: 0, bytes: 0, at: 0 };

  /** `bytesOf` returns the size of a job's payload in bytes. Firings at or after `until` aren't counted. */
  constructor(given: {
    clock: VirtualClock;
    jobs: Iterable<string>;
    until: number;
    bytesOf: (job: string) => number;
  }) {
    this.jobs = new Map([...given.jobs].map((job) => [job, emptyRecord(job)]));
    this.#clock = given.clock;
    this.#until = given.until;
    this.#bytesOf = given.bytesOf;
  }

  get peak(): Peak {
    return this.#peak;
  }

  /** The job names of all owed payloads. */
  get owed(): readonly string[] {
    return [...this.#owed.values()].map(({ job }) => job);
  }

  /** True if no run is running or queued, and no payload is owed. */
  get isIdle(): boolean {
    return (
      this.#running.size === 0 && this.#owed.size === 0 && [...this.#fired.values()].every((at) => at.length === 0)
    );
  }

  /** Wraps a timer to count its firings, and to suppress firings after the end of the simulation. */
  wrap(timer: Timer): Timer {
    const start = (hooks: TimerHooks): void =>
      timer.start({
        ...hooks,
        dueAt: () => [...hooks.dueAt()].filter(({ at }) => at < this.#until),
        fire: (due) => {
          if (due.isAttempt === undefined) this.#fire(due.job, due.at);
          hooks.fire(due);
        },
      });
    return { ...timer, start };
  }

  readonly listen: Listener = (...event) => {
    this.#recordRun(event);
    this.#recordPayload(event);
    const [name, facts] = event;
    if (name !== 'request.sent' || !facts.path.startsWith(usagePath)) return;
    this.usageQueries.set(facts.account, (this.usageQueries.get(facts.account) ?? 0) + 1);
  };

  #fire(job: string, at: number): void {
    const record = this.jobs.get(job);
    if (record === undefined) return;
    const waiting = this.#fired.get(job) ?? [];
    record.firings += 1;
    if (waiting.length > 0 || this.#running.has(job)) record.overlaps += 1;
    waiting.push(at);
    this.#fired.set(job, waiting);
  }

  #recordRun([name, facts]: EventArguments): void {
    if (name === 'run.started') this.#start(this.#of(facts.job), facts.attempt);
    else if (name === 'run.retrying') this.#running.delete(facts.job);
    else if (name === 'run.finished') this.#finish(this.#of(facts.job), facts);
    else if (name === 'firing.skipped') {
      this.#of(facts.job).skipped += 1;
      this.#skip(this.#of(facts.job), facts.at);
    } else if (name === 'firing.throttled') {
      this.#of(facts.job).throttled.push(facts.at);
      this.#skip(this.#of(facts.job), facts.at);
    }
  }

  #start(record: JobRecord, attempt = 1): void {
    this.#running.add(record.job);
    if (attempt > 1) {
      record.attempts += 1;
      return;
    }
    record.runs += 1;
    const at = this.#fired.get(record.job)?.shift();
    if (at !== undefined) record.lateness.push(Math.max(0, this.#clock.now() - at));
  }

  #finish(record: JobRecord, { run, outcome, requests }: SluiceEvents['run.finished']): void {
    this.#running.delete(record.job);
    // A separate event reports a dead payload.
    if (isFailedRun(outcome) && outcome !== 'dead') {
      record.failed += 1;
      this.#recordLoss(record, run);
    }
    if (outcome === 'refreshed') {
      record.delivered += 1;
      this.#recover(record, run);
    }
    // Counts only the run's own requests. Uploads happen later, and each has its own event.
    record.requests += requests;
  }

  #skip(record: JobRecord, at: number): void {
    const waiting = this.#fired.get(record.job) ?? [];
    const place = waiting.indexOf(at);
    if (place >= 0) waiting.splice(place, 1);
  }

  #recordPayload([name, facts]: EventArguments): void {
    if (name === 'payload.owed') this.#owe(facts);
    else if (name === 'payload.delivered') this.#settle(facts, 'delivered');
    else if (name === 'payload.unchanged') this.#settle(facts, 'unchanged');
    else if (name === 'payload.superseded') this.#settle(facts, 'superseded');
    else if (name === 'payload.dead') this.#settle(facts, 'dead');
    else if (name === 'extract.unchanged') this.#of(facts.job).unchanged += 1;
    else if (name === 'upload.started') this.#of(facts.job).requests += 1;
    else if (name === 'upload.failed') this.#of(facts.job).retries += facts.action === 'dead' ? 0 : 1;
  }

  #owe({ run, job }: { run: string; job: string }): void {
    const bytes = this.#bytesOf(job);
    this.#owed.set(run, { job, since: this.#clock.now(), bytes });
    this.#owedBytes += bytes;
    if (this.#owed.size < this.#peak.payloads) return;
    if (this.#owed.size === this.#peak.payloads && this.#owedBytes <= this.#peak.bytes) return;
    this.#peak = { payloads: this.#owed.size, bytes: this.#owedBytes, at: this.#clock.now() };
  }

  #settle(
    { run, job }: { run: string; job: string },
    outcome: 'delivered' | 'unchanged' | 'superseded' | 'dead',
  ): void {
    if (this.#dead.has(run)) return;
    if (outcome === 'dead') this.#dead.add(run);
    const record = this.#of(job);
    record[outcome] += 1;
    if (outcome === 'dead') this.#recordLoss(record, run);
    if (outcome === 'delivered' || outcome === 'unchanged') this.#recover(record, run);
    const owed = this.#owed.get(run);
    if (owed === undefined) return;
    if (outcome === 'delivered') record.waits.push(this.#clock.now() - owed.since);
    this.#owed.delete(run);
    this.#owedBytes -= owed.bytes;
  }

  #recordLoss(record: JobRecord, run: string): void {
    record.lost += 1;
    this.#lastLost.set(record.job, run);
  }

  /** A successful run clears only the losses before its start. Run IDs sort by time. */
  #recover(record: JobRecord, run: string): void {
    if (run > (this.#lastLost.get(record.job) ?? '')) record.lost = 0;
  }

  #of(job: string): JobRecord {
    const record = this.jobs.get(job);
    if (record === undefined) throw new Error(`job ${job} is not simulated`);
    return record;
  }
}

function emptyRecord(job: string): JobRecord {
  const counts = {
    firings: 0,
    runs: 0,
    attempts: 0,
    overlaps: 0,
    skipped: 0,
    throttled: [],
    delivered: 0,
    unchanged: 0,
    superseded: 0,
  };
  return { job, ...counts, failed: 0, dead: 0, lost: 0, requests: 0, retries: 0, lateness: [], waits: [] };
}
