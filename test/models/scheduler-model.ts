import { firingsBetween, nextFiring, type Schedule, scheduleKey } from '../../src/schedule/schedule.ts';

/**
 * What a scheduler must do, as simply as possible: it does one thing at a time, and checks each firing individually.
 * The times of a schedule come from the calendar, which has its own tests.
 */

const minute = 60_000;
const grace = 5 * minute;
export const width = 2;

export interface Kept {
  readonly key: string;
  readonly at: number;
}

interface Firing {
  readonly name: string;
  readonly at: number;
  readonly logicalAt?: number;
  readonly isCatchUp: boolean;
  /** The chain of missed firings that waits for this firing. */
  readonly chain?: object;
}

interface Standing {
  state: 'in line' | 'running';
  readonly firing: Firing;
  readonly waiting: Firing[];
}

interface Planned {
  readonly schedule: Schedule;
  next: number | null;
  behindSince?: number | undefined;
  chain?: object | undefined;
}

export class Model {
  /** The state on disk, by job. */
  readonly kept = new Map<string, Kept>();
  /**
   * For each job, the runs that started and the outcomes of firings that didn't start one: what a user could have seen.
   */
  readonly seen: string[] = [];
  readonly planned = new Map<string, Planned>();
  readonly standing = new Map<string, Standing>();
  readonly #line: Firing[] = [];
  /** Runs whose place has not been passed on yet. */
  #ending = 0;

  /** A new process, with what is on disk. */
  start(schedules: ReadonlyMap<string, Schedule>, now: number): void {
    this.adopt(schedules, now);
    this.look(now);
  }

  /** The process is gone, along with its memory. */
  crash(): void {
    this.planned.clear();
    this.standing.clear();
    this.#line.length = 0;
  }

  /**
   * Gives up running runs: the next start fires them again or, if the clock was set back in the meantime, an earlier
   * firing.
   */
  stop(): void {
    for (const [name, { state, firing }] of this.standing) {
      const planned = this.planned.get(name);
      if (state !== 'running' || planned === undefined) continue;
      const key = scheduleKey(planned.schedule);
      const kept = this.kept.get(name);
      this.kept.set(name, { key, at: kept?.key === key ? Math.min(firing.at, kept.at) : firing.at });
    }
    this.crash();
  }

  adopt(schedules: ReadonlyMap<string, Schedule>, now: number): void {
    for (const name of [...this.kept.keys(), ...this.planned.keys()]) {
      if (schedules.has(name)) continue;
      this.kept.delete(name);
      this.planned.delete(name);
    }
    const before = new Map(this.planned);
    this.planned.clear();
    for (const [name, schedule] of schedules) {
      const known = before.get(name);
      if (known !== undefined && scheduleKey(known.schedule) === scheduleKey(schedule)) {
        this.planned.set(name, { ...known, schedule });
        continue;
      }
      const next = resumed(schedule, this.kept.get(name), now);
      this.planned.set(name, { schedule, next });
      if (next === null) this.kept.delete(name);
      else this.kept.set(name, { key: scheduleKey(schedule), at: next });
    }
  }

  /** The clock was set. */
  jump(now: number): void {
    for (const [name, planned] of this.planned) {
      if (planned.next === null) continue;
      const key = scheduleKey(planned.schedule);
      const before = planned.next;
      planned.next = resumed(planned.schedule, { key, at: before }, now);
      // A firing that hasn't started yet remains on disk.
      if (planned.next !== null && this.kept.get(name)?.at === before) this.kept.set(name, { key, at: planned.next });
    }
  }

  /** The next time at which something can fire. */
  nextLook(): number {
    const all = [...this.planned.values()]
      .filter(({ chain }) => chain === undefined)
      .map(({ next }) => next ?? Infinity);
    return Math.min(Number.POSITIVE_INFINITY, ...all);
  }

  look(now: number): void {
    const due = [...this.planned].filter(([, { next, chain }]) => next !== null && next <= now && chain === undefined);
    due.sort(([, a], [, b]) => a.next! - b.next!);
    for (const [name, planned] of due) this.#turn(name, planned, now);
  }

  finish(name: string, now: number): void {
    const standing = this.standing.get(name);
    if (standing?.state !== 'running') return;
    this.#end(standing, now);
  }

  #turn(name: string, planned: Planned, now: number): void {
    const { schedule } = planned;
    const { policy, withinMs = Number.POSITIVE_INFINITY, atMost = 1000 } = schedule.misfire ?? { policy: 'run_once' };
    const due = [planned.next!, ...firingsBetween(schedule, planned.next!, now)];
    const wasBehind = planned.behindSince !== undefined;
    const since = (planned.behindSince ?? now) - Math.max(grace, withinMs);
    const inWindow = due.filter((at) => at >= since);
    let fire: number | undefined;
    if (policy === 'run_once') fire = inWindow.length > 0 ? due[0] : undefined;
    if (policy === 'skip') fire = due.findLast((at) => at >= now - grace);
    if (policy === 'run_all') fire = inWindow.slice(-atMost)[0];
    const isChain = policy === 'run_all' && fire !== undefined;
    planned.next = nextFiring(schedule, isChain ? fire! : now);
    const hasBacklog = isChain && planned.next !== null && planned.next <= now;
    planned.behindSince = hasBacklog ? (planned.behindSince ?? now) : undefined;
    const passed = policy === 'run_once' ? (fire === undefined ? due : []) : due.filter((at) => at < (fire ?? now + 1));
    if (passed.length > 0) this.seen.push(`${name} passed ${passed.length}`);
    if (fire === undefined) {
      this.#keep(name);
      return;
    }
    const chain = hasBacklog ? {} : undefined;
    planned.chain = chain;
    this.#take(
      {
        name,
        at: fire,
        isCatchUp: isChain && (hasBacklog || wasBehind || fire < now - grace),
        ...(policy === 'run_all' ? { logicalAt: fire - (schedule.offset ?? 0) } : {}),
        ...(chain === undefined ? {} : { chain }),
      },
      now,
    );
  }

  #take(firing: Firing, now: number): void {
    const standing = this.standing.get(firing.name);
    const { overlap = 'skip' } = this.planned.get(firing.name)!.schedule;
    if (standing === undefined) this.#stand(firing, now);
    else if (firing.isCatchUp) standing.waiting.push(firing);
    else this.#meet(standing, firing, overlap);
  }

  #meet(standing: Standing, firing: Firing, overlap: string): void {
    if (standing.state === 'in line' || standing.waiting.length > 0 || overlap === 'skip') {
      this.seen.push(`${firing.name} skipped`);
      this.#keep(firing.name);
    } else standing.waiting.push(firing);
    if (overlap === 'cancel_other' && standing.state === 'running') {
      this.seen.push(`${firing.name} cancelled ${text(standing.firing.at)}`);
      this.#cancelled.push(standing);
    }
  }

  /** Runs that were asked to stop end once everything that is due has been checked. */
  readonly #cancelled: Standing[] = [];

  settle(now: number): void {
    for (let standing = this.#cancelled.shift(); standing !== undefined; standing = this.#cancelled.shift()) {
      if (this.standing.get(standing.firing.name) === standing) this.#end(standing, now);
    }
  }

  #stand(firing: Firing, now: number): void {
    this.standing.set(firing.name, { state: 'in line', firing, waiting: [] });
    this.#line.push(firing);
    this.#line.sort((a, b) => a.at - b.at);
    this.#advance(now);
  }

  /** Runs the first in the queue as long as a slot is free. */
  #advance(now: number): void {
    while (
      this.#line.length > 0 &&
      [...this.standing.values()].filter(({ state }) => state === 'running').length + this.#ending < width
    ) {
      const firing = this.#line.shift()!;
      const standing = this.standing.get(firing.name)!;
      if (!this.planned.has(firing.name)) {
        this.seen.push(`${firing.name} skipped`);
        this.#end(standing, now);
        continue;
      }
      standing.state = 'running';
      this.#keep(firing.name);
      this.seen.push(
        `${firing.name} ran ${text(firing.at)}${firing.logicalAt === undefined ? '' : ` as ${text(firing.logicalAt)}`}`,
      );
    }
  }

  /** Firings that waited for the run are queued before its slot is released. */
  #end({ firing, waiting }: Standing, now: number): void {
    this.standing.delete(firing.name);
    this.#ending++;
    const [next, ...rest] = waiting;
    if (next !== undefined) {
      this.#stand(next, now);
      this.standing.get(firing.name)?.waiting.push(...rest);
    }
    const planned = this.planned.get(firing.name);
    if (planned?.chain !== undefined && planned.chain === firing.chain) {
      planned.chain = undefined;
      this.look(now);
    }
    this.#ending--;
    this.#advance(now);
  }

  /** What is due and hasn't started stays on disk. */
  #keep(name: string): void {
    const planned = this.planned.get(name);
    if (planned === undefined) return;
    const { state, firing, waiting = [] } = this.standing.get(name) ?? {};
    const open = [...waiting, ...(state === 'in line' ? [firing!] : [])].map(({ at }) => at);
    const at = Math.min(...open, planned.next ?? Number.POSITIVE_INFINITY);
    if (at === Number.POSITIVE_INFINITY) this.kept.delete(name);
    else this.kept.set(name, { key: scheduleKey(planned.schedule), at });
  }
}

/**
 * A planned firing stays planned, unless the schedule has changed, or the firing is later than one that would be
 * planned a minute from now.
 */
function resumed(schedule: Schedule, kept: Kept | undefined, now: number): number | null {
  const fresh = nextFiring(schedule, now);
  if (kept?.key !== scheduleKey(schedule)) return fresh;
  const latest = nextFiring(schedule, now + minute);
  return latest !== null && kept.at > latest ? fresh : kept.at;
}

export const text = (at: number): string => new Date(at).toISOString().slice(0, 16);
