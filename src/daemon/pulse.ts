import type { Clock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import type { Store } from '../state/store.ts';
import type { Ticking } from './scheduler.ts';

/** The plan is looked at once a minute; two that were missed are no accident. */
const longestSilenceMs = 150_000;
/** A firing that nobody takes up for so long, reckoned on the clock that never jumps, is stuck. */
const longestOverdueMs = 90_000;
const beatMs = 10_000;
/** A process that missed so many beats was suspended, or hangs; within the next beat its schedules are looked at again. */
const missedBeats = 3;
/** Where the last beat stands in the store. */
const settingName = 'daemon.pulse';

/** Whether the schedules are alive, with a sentence for people. */
export interface Beat {
  readonly ticking: boolean;
  readonly message: string;
}

/** A beat as it is written down for other processes. */
interface Written extends Beat {
  readonly owner: string;
  readonly wall: number;
  readonly monotonic: number;
}

export interface PulseGiven {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticking: () => Ticking;
  /** Told when the schedules stop, and when they tick again. */
  readonly turned?: (beat: Beat) => void;
  /** Told when the state stops to take writes, with the reason, and when it takes them again. */
  readonly writable?: (problem: Problem | undefined) => void;
}

/**
 * The watchdog of the schedules: notices a timer that has stopped and a firing that nobody takes up. Every ten seconds it
 * writes into the store what it sees, so that another process can tell a daemon that works from one that only exists; a
 * daemon whose event loop hangs writes nothing, which says the same.
 */
export class Pulse {
  readonly #given: PulseGiven;
  #timer: NodeJS.Timeout | undefined;
  /** Since when a firing is overdue, monotonic: the wall clock may have jumped over one. */
  #overdueSince: number | undefined;
  #wasTicking = true;
  /** When the last beat was, monotonic. */
  #beatAt: number | undefined;
  #unwritable: Problem | undefined;

  constructor(given: PulseGiven) {
    this.#given = given;
  }

  start(): void {
    this.#beatAt = this.#given.clock.monotonic();
    this.#timer = setInterval(() => void this.write().catch(() => undefined), beatMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks at the schedules now. */
  check(): Beat {
    const { clock, ticking } = this.#given;
    if (clock.monotonic() - (this.#beatAt ?? clock.monotonic()) > missedBeats * beatMs) {
      this.#overdueSince = undefined;
      return { ticking: this.#wasTicking, message: 'the process was suspended, and has just gone on' };
    }
    const { silence, overdue } = ticking();
    if (overdue === 0) this.#overdueSince = undefined;
    else this.#overdueSince ??= clock.monotonic();
    if (silence === undefined) return { ticking: false, message: 'the schedules have not started' };
    if (silence > longestSilenceMs)
      return { ticking: false, message: `no look at the schedules for ${seconds(silence)}` };
    const stuck = this.#overdueSince === undefined ? 0 : clock.monotonic() - this.#overdueSince;
    if (stuck > longestOverdueMs) return { ticking: false, message: `a firing is overdue by ${seconds(overdue)}` };
    return { ticking: true, message: 'the schedules tick' };
  }

  /** Looks, and writes down what is seen. */
  async write(): Promise<void> {
    const { store, clock } = this.#given;
    const beat = this.check();
    if (this.#beatAt !== undefined) this.#beatAt = clock.monotonic();
    if (beat.ticking !== this.#wasTicking) this.#given.turned?.(beat);
    this.#wasTicking = beat.ticking;
    const written: Written = {
      ...beat,
      owner: store.processes.self,
      wall: clock.now(),
      monotonic: clock.monotonic(),
    };
    await store.settings.set(settingName, JSON.stringify(written)).finally(() => this.#noteWritable());
  }

  #noteWritable(): void {
    const problem = this.#given.store.unwritable();
    if (problem?.code === this.#unwritable?.code) return;
    this.#unwritable = problem;
    this.#given.writable?.(problem);
  }
}

/**
 * What the daemon that holds the lease wrote last, as seen by another process. Old news is bad news: a beat of another
 * boot is dated by the wall clock, one of this boot by the clock that nobody sets.
 */
export async function readPulse(store: Store, { owner, clock }: { owner: string; clock: Clock }): Promise<Beat> {
  const text = await store.settings.find(settingName);
  const written = text === undefined ? undefined : (JSON.parse(text) as Written);
  if (written?.owner !== owner) return { ticking: false, message: 'the daemon has not begun its schedules yet' };
  const sharesClock = store.processes.sharesBoot(owner);
  const age = sharesClock ? clock.monotonic() - written.monotonic : Math.abs(clock.now() - written.wall);
  if (age > missedBeats * beatMs) {
    // A daemon that cannot write shows no sign of life, which says nothing of its schedules.
    const problem = await store.probe();
    if (problem !== undefined)
      return { ticking: true, message: `not known while the state cannot be written: ${problem.code}` };
    return { ticking: false, message: `the daemon has shown no sign of life for ${seconds(age)}` };
  }
  return { ticking: written.ticking, message: written.message };
}

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`;
