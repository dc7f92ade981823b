import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Job } from '../../src/config/config.ts';
import type { Firing } from '../../src/daemon/firing/firing.ts';
import { type QueuedRun, RunQueue } from '../../src/daemon/firing/run-queue.ts';
import { Scheduler } from '../../src/daemon/firing/scheduler.ts';
import type { Schedule } from '../../src/schedule/schedule.ts';
import { createTimer } from '../../src/schedule/timer.ts';
import type { Store } from '../../src/state/store.ts';
import type { SteppingClock } from '../clocks.ts';
import { destinationOf, jobOf, Source } from '../daemon/rig.ts';
import { text, width } from './scheduler-model.ts';

const destination = destinationOf('http://127.0.0.1:1/api/1.0');
const job = (name: string, schedule: Schedule): Job =>
  jobOf({ name, destination, instance: name, source: new Source(), schedule });

/** One process's lifetime with the store. */
export class Life {
  readonly #stop = new AbortController();
  readonly #scheduler: Scheduler;
  readonly #line: RunQueue;
  readonly #running = new Map<string, () => void>();
  readonly #real: Real;
  #tick: () => void = () => undefined;
  #isOver = false;

  constructor(real: Real) {
    this.#real = real;
    const { store, clock } = real;
    this.#line = new RunQueue({
      run: (run) => this.#run(run).catch((error: unknown) => void real.faults.push(error)),
      suspects: new Set(),
      stop: this.#stop.signal,
    });
    this.#line.setConcurrency(width);
    const timer = createTimer(clock, (look) => {
      this.#tick = look;
      return { aim: () => undefined, destroy: () => undefined };
    });
    this.#scheduler = new Scheduler({
      ...{ store, clock, timer },
      failed: (error) => real.faults.push(error),
    });
  }

  async start(): Promise<void> {
    await this.#scheduler.adopt(this.#real.jobs());
    this.#scheduler.start();
    this.#take();
  }

  async reload(): Promise<void> {
    await this.#scheduler.adopt(this.#real.jobs());
    this.#scheduler.look();
    this.#take();
  }

  look(): void {
    this.#tick();
    this.#take();
  }

  /** The timer's watchdog compares its two clocks. */
  compareClocks(): void {
    vi.advanceTimersByTime(5_000);
    this.#take();
  }

  finish(name: string): void {
    this.#running.get(name)?.();
  }

  running(): string[] {
    return [...this.#running.keys()].sort();
  }

  next(): string[] {
    return this.#scheduler.next().map(({ job: name, at }) => `${name} ${text(at)}`);
  }

  /** Ends the process without a shutdown, so nothing more is written. */
  crash(): void {
    this.#isOver = true;
    this.#scheduler.stop();
  }

  async stop(): Promise<void> {
    this.#scheduler.stop();
    this.#stop.abort(new Error('stopped'));
    await this.#line.idle();
    this.#isOver = true;
  }

  /** Handles due firings like the daemon. */
  #take(): void {
    for (const { job: due, firing, skipped } of this.#scheduler.due()) {
      if (skipped !== undefined) this.#passOver(due.name, skipped.firings, firing);
      if (firing === undefined) continue;
      const offered = this.#line.offer(firing);
      if (offered.state !== 'skipped') continue;
      this.#skip(firing);
      this.#done(firing);
    }
  }

  #done(firing: Firing): void {
    this.#scheduler.done(firing);
    this.#take();
  }

  async #run(run: QueuedRun): Promise<void> {
    await this.#runFiring(run);
    run.end();
    this.#done(run.firing);
  }

  async #runFiring({ firing, signal, begin }: QueuedRun): Promise<void> {
    const { name } = firing.job;
    const { store, schedules, seen } = this.#real;
    if (!schedules.has(name)) return this.#skip(firing);
    begin();
    await this.#write(() => store.transaction((parts) => this.#scheduler.begin(firing, parts)));
    const as = firing.logicalAt === undefined ? '' : ` as ${text(firing.logicalAt)}`;
    seen.push(`${name} ran ${text(firing.at)}${as}`);
    await new Promise<void>((resolve) => {
      this.#running.set(name, resolve);
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#running.delete(name);
    if (this.#stop.signal.aborted) await this.#write(() => this.#scheduler.defer(firing, store));
    else if (signal.aborted) seen.push(`${name} cancelled ${text(firing.at)}`);
  }

  #skip(firing: Firing): void {
    const { name } = firing.job;
    this.#real.seen.push(`${name} skipped`);
    void this.#write(() => this.#scheduler.settle(name, this.#real.store, firing));
  }

  #passOver(name: string, firings: number, firing: Firing | undefined): void {
    this.#real.seen.push(`${name} passed ${firings}`);
    if (firing === undefined) void this.#write(() => this.#scheduler.settle(name, this.#real.store));
  }

  async #write(work: () => Promise<unknown>): Promise<void> {
    if (!this.#isOver) await this.#real.under(work());
  }
}

/** What is kept from one process to the next, and what was observed in all of them. */
export class Real {
  readonly store: Store;
  readonly clock: SteppingClock;
  readonly schedules: Map<string, Schedule>;
  readonly seen: string[] = [];
  readonly faults: unknown[] = [];
  life: Life;
  #writing = 0;

  constructor(store: Store, clock: SteppingClock, schedules: Map<string, Schedule>) {
    this.store = store;
    this.clock = clock;
    this.schedules = schedules;
    this.life = new Life(this);
  }

  jobs(): Job[] {
    return [...this.schedules].map(([name, schedule]) => job(name, schedule));
  }

  async under(work: Promise<unknown>): Promise<void> {
    this.#writing++;
    try {
      await work;
    } finally {
      this.#writing--;
    }
  }

  /** Resolves when nothing more will happen without outside input. */
  async rest(): Promise<void> {
    for (let still = 0; still < 4; still++) {
      await turn();
      if (this.#writing > 0) still = 0;
    }
  }
}
