import type { Clock } from '../../lib/clock.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Store } from '../../state/store.ts';
import type { Ticking } from '../firing/scheduler.ts';

/**
 * Maximum time since the scheduler last checked its plan. It checks once a minute, so two missed checks mean that it
 * has stopped.
 */
const maxSilenceMs = 150_000;
/** If a firing is overdue by this much on the monotonic clock, it's stuck. */
const maxOverdueMs = 90_000;
const intervalMs = 10_000;
/**
 * A process that missed this many heartbeats was suspended or unresponsive. Its schedules are checked again at the next
 * heartbeat.
 */
const maxMissed = 3;
/** Name of the process's setting that contains its last heartbeat. */
const settingName = 'heartbeat';

/** Whether the schedules are running, and a sentence that explains it. */
export interface Liveness {
  readonly ticking: boolean;
  readonly message: string;
}

/** The heartbeat in the form that is stored for other processes. */
interface StoredLiveness extends Liveness {
  readonly wall: number;
  readonly monotonic: number;
}

export interface HeartbeatOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Returns undefined while another process plans. */
  readonly ticking: () => Ticking | undefined;
  /** Called when the schedules stop or resume. */
  readonly onChange?: (liveness: Liveness) => void;
  /** Called with the problem when the state becomes unwritable, and with undefined when it becomes writable again. */
  readonly onWritable?: (problem: Problem | undefined) => void;
}

/**
 * Heartbeat and watchdog for the schedules. Detects a stopped timer and a firing whose run doesn't start. Stores the
 * result every ten seconds, so that other processes can distinguish a working daemon from a process that merely exists.
 * If the daemon's event loop hangs, other processes see no recent heartbeat.
 */
export class Heartbeat {
  readonly #given: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  /** The time when a firing became overdue, on the monotonic clock, because the wall clock may jump. */
  #overdueSince: number | undefined;
  #wasTicking = true;
  /** The time of the last heartbeat, on the monotonic clock. */
  #lastAt: number | undefined;
  #unwritable: Problem | undefined;

  constructor(given: HeartbeatOptions) {
    this.#given = given;
  }

  start(): void {
    this.#lastAt = this.#given.clock.monotonic();
    this.#timer = setInterval(() => void this.write().catch(() => undefined), intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Checks the schedules now. */
  check(): Liveness {
    const { clock, ticking } = this.#given;
    if (clock.monotonic() - (this.#lastAt ?? clock.monotonic()) > maxMissed * intervalMs) {
      this.#overdueSince = undefined;
      return { ticking: this.#wasTicking, message: 'the process was suspended and has just resumed' };
    }
    const now = ticking();
    if (now === undefined) {
      this.#overdueSince = undefined;
      return { ticking: true, message: 'another process plans; this one runs jobs' };
    }
    const { silence, overdue } = now;
    if (overdue === 0) this.#overdueSince = undefined;
    else this.#overdueSince ??= clock.monotonic();
    if (silence === undefined) return { ticking: false, message: 'the schedules have not started' };
    if (silence > maxSilenceMs) return { ticking: false, message: `the scheduler has not run for ${seconds(silence)}` };
    const stuck = this.#overdueSince === undefined ? 0 : clock.monotonic() - this.#overdueSince;
    if (stuck > maxOverdueMs) return { ticking: false, message: `a firing is overdue by ${seconds(overdue)}` };
    return { ticking: true, message: 'the schedules are running' };
  }

  /** Checks whether the schedules are running, and stores the result. */
  async write(): Promise<void> {
    const { store, clock } = this.#given;
    const liveness = this.check();
    if (this.#lastAt !== undefined) this.#lastAt = clock.monotonic();
    if (liveness.ticking !== this.#wasTicking) this.#given.onChange?.(liveness);
    this.#wasTicking = liveness.ticking;
    const written: StoredLiveness = {
      ...liveness,
      wall: clock.now(),
      monotonic: clock.monotonic(),
    };
    await store.processSettings.set(settingName, JSON.stringify(written)).finally(() => this.#noteWritable());
  }

  #noteWritable(): void {
    const problem = this.#given.store.unwritable();
    if (problem?.code === this.#unwritable?.code) return;
    this.#unwritable = problem;
    this.#given.onWritable?.(problem);
  }
}

/**
 * Returns the last heartbeat of the daemon that holds the lease, for use in other processes. An old heartbeat counts as
 * missing. The heartbeat's age is measured on the monotonic clock if the machine hasn't rebooted since, otherwise on
 * the wall clock.
 */
export async function readHeartbeat(
  store: Store,
  { owner, clock }: { owner: string; clock: Clock },
): Promise<Liveness> {
  const text = await store.processSettings.find(settingName, owner);
  if (text === undefined) return { ticking: false, message: 'the daemon has not started its schedules yet' };
  const written = JSON.parse(text) as StoredLiveness;
  const sharesClock = store.processes.sharesBoot(owner);
  const age = sharesClock ? clock.monotonic() - written.monotonic : Math.abs(clock.now() - written.wall);
  if (age > maxMissed * intervalMs) {
    // A daemon that can't write to the state can't store a heartbeat, but its schedules may still be running.
    const problem = await store.probe();
    if (problem !== undefined)
      return { ticking: true, message: `unknown while the state is not writable: ${problem.code}` };
    return { ticking: false, message: `no heartbeat from the daemon for ${seconds(age)}` };
  }
  return { ticking: written.ticking, message: written.message };
}

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`;
