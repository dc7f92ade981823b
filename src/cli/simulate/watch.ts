import type { SluiceEvents } from '../../daemon/events.ts';
import type { Events } from '../../lib/events.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import type { Timer, TimerHooks } from '../../schedule/timer.ts';

/** What became of the firings of one job. Milliseconds. */
export interface Watched {
  readonly job: string;
  firings: number;
  runs: number;
  /** Further attempts at runs whose source failed. */
  attempts: number;
  /** Firings that came while the job ran or stood in line. */
  overlaps: number;
  skipped: number;
  /** Planned instants of firings that were passed over to save requests (epoch ms). */
  readonly throttled: number[];
  delivered: number;
  unchanged: number;
  superseded: number;
  failed: number;
  dead: number;
  /** Of those two, the ones that no later run has made good. */
  lost: number;
  requests: number;
  retries: number;
  /** From the planned instant of a firing to the beginning of its run. */
  readonly lateness: number[];
  /** From when a payload was owed to when it was delivered. */
  readonly waits: number[];
}

/** The fullest that the outbox was. */
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
type Heard = Parameters<Listener>;

/** Counts what happens in a simulation. */
export class Watch {
  readonly jobs: ReadonlyMap<string, Watched>;
  /** How often the daemon asked what an account has used, by account. */
  readonly asked = new Map<string, number>();
  readonly #clock: VirtualClock;
  readonly #bytesOf: (job: string) => number;
  readonly #until: number;
  /** Planned instants of firings whose runs have not begun. */
  readonly #fired = new Map<string, number[]>();
  readonly #running = new Set<string>();
  /** By run. */
  readonly #owed = new Map<string, Owed>();
  /** Runs whose payloads were given up: what supersedes one later changes nothing of that. */
  readonly #dead = new Set<string>();
  /** By job: its last run that was lost. */
  readonly #lastLost = new Map<string, string>();
  #owedBytes = 0;
  #peak: Peak = { payloads: 0, bytes: 0, at: 0 };

  /** `bytesOf`: how large payloads of a job would be; `until`: no firing counts from then on. */
  constructor(given: {
    clock: VirtualClock;
    jobs: Iterable<string>;
    until: number;
    bytesOf: (job: string) => number;
  }) {
    this.jobs = new Map([...given.jobs].map((job) => [job, unwatched(job)]));
    this.#clock = given.clock;
    this.#until = given.until;
    this.#bytesOf = given.bytesOf;
  }

  get peak(): Peak {
    return this.#peak;
  }

  /** Payloads that are owed, by job. */
  get owed(): readonly string[] {
    return [...this.#owed.values()].map(({ job }) => job);
  }

  /** True when no run is under way or in line, and nothing is owed. */
  get isAtRest(): boolean {
    return (
      this.#running.size === 0 && this.#owed.size === 0 && [...this.#fired.values()].every((at) => at.length === 0)
    );
  }

  /** The same timer, whose firings are counted; from the end of the simulation on, nothing is due. */
  over(timer: Timer): Timer {
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
    this.#hearRun(event);
    this.#hearPayload(event);
    const [name, facts] = event;
    if (name !== 'request.sent' || !facts.path.startsWith(usagePath)) return;
    this.asked.set(facts.account, (this.asked.get(facts.account) ?? 0) + 1);
  };

  #fire(job: string, at: number): void {
    const watched = this.jobs.get(job);
    if (watched === undefined) return;
    const waiting = this.#fired.get(job) ?? [];
    watched.firings += 1;
    if (waiting.length > 0 || this.#running.has(job)) watched.overlaps += 1;
    waiting.push(at);
    this.#fired.set(job, waiting);
  }

  #hearRun([name, facts]: Heard): void {
    if (name === 'run.started') this.#start(this.#of(facts.job), facts.attempt);
    else if (name === 'run.retrying') this.#running.delete(facts.job);
    else if (name === 'run.finished') this.#finish(this.#of(facts.job), facts);
    else if (name === 'firing.skipped') {
      this.#of(facts.job).skipped += 1;
      this.#pass(this.#of(facts.job), facts.at);
    } else if (name === 'firing.throttled') {
      this.#of(facts.job).throttled.push(facts.at);
      this.#pass(this.#of(facts.job), facts.at);
    }
  }

  #start(watched: Watched, attempt = 1): void {
    this.#running.add(watched.job);
    if (attempt > 1) {
      watched.attempts += 1;
      return;
    }
    watched.runs += 1;
    const at = this.#fired.get(watched.job)?.shift();
    if (at !== undefined) watched.lateness.push(Math.max(0, this.#clock.now() - at));
  }

  #finish(watched: Watched, { run, outcome, requests }: SluiceEvents['run.finished']): void {
    this.#running.delete(watched.job);
    if (outcome === 'failed' || outcome === 'quarantined') {
      watched.failed += 1;
      this.#lose(watched, run);
    }
    if (outcome === 'refreshed') {
      watched.delivered += 1;
      this.#makeGood(watched, run);
    }
    // What a run that has ended has paid for is its calls; uploads come later and are heard of one by one.
    watched.requests += requests;
  }

  #pass(watched: Watched, at: number): void {
    const waiting = this.#fired.get(watched.job) ?? [];
    const place = waiting.indexOf(at);
    if (place >= 0) waiting.splice(place, 1);
  }

  #hearPayload([name, facts]: Heard): void {
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

  #settle({ run, job }: { run: string; job: string }, fate: 'delivered' | 'unchanged' | 'superseded' | 'dead'): void {
    if (this.#dead.has(run)) return;
    if (fate === 'dead') this.#dead.add(run);
    const watched = this.#of(job);
    watched[fate] += 1;
    if (fate === 'dead') this.#lose(watched, run);
    if (fate === 'delivered' || fate === 'unchanged') this.#makeGood(watched, run);
    const owed = this.#owed.get(run);
    if (owed === undefined) return;
    if (fate === 'delivered') watched.waits.push(this.#clock.now() - owed.since);
    this.#owed.delete(run);
    this.#owedBytes -= owed.bytes;
  }

  #lose(watched: Watched, run: string): void {
    watched.lost += 1;
    this.#lastLost.set(watched.job, run);
  }

  /** Ids of runs begin with their time: one that began before the loss makes nothing good. */
  #makeGood(watched: Watched, run: string): void {
    if (run > (this.#lastLost.get(watched.job) ?? '')) watched.lost = 0;
  }

  #of(job: string): Watched {
    const watched = this.jobs.get(job);
    if (watched === undefined) throw new Error(`job ${job} is not simulated`);
    return watched;
  }
}

function unwatched(job: string): Watched {
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
