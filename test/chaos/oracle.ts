import { expect } from 'vitest';
import type { Home, JobResult, State } from '../journey/home.ts';
import { busiestWindow, type Ended, type World } from '../journey/world.ts';
import type { Control, Seen } from './control.ts';
import type { Upstream } from './upstream.ts';

/** What an oracle observes: a user's job that reads one upstream and writes to one instance. */
export interface Watched {
  readonly world: World;
  readonly control: Control;
  readonly home: Pick<Home, 'syncHere'> & { state(): State | Promise<State> };
  readonly instance: string;
  readonly upstream: Upstream;
  /** The daily allowance in the config. */
  readonly allowance: number;
}

type Synced = Ended & { readonly jobs: readonly JobResult[] };

/** States after which the instance shows what was read. */
const done = ['delivered', 'unchanged', 'superseded'];

/**
 * Knows the truth at the source and reads what the service shows and which requests it received. If they don't match,
 * throws with the number of the invariant in src/ARCHITECTURE.md.
 */
export class Oracle {
  readonly #watched: Watched;
  /** The newest version shown so far. */
  #shown = 0;
  /** The newest version in the outbox. */
  #owed = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** The newest version that was ever promised. In the end, this version or a newer one must be shown. */
  get owed(): number {
    return this.#owed;
  }

  /** This version was reported as owed. */
  promised(version: number): void {
    this.#owed = Math.max(this.#owed, version);
  }

  /** A user restored an older version, so showing it is no longer a step backwards. */
  wentBack(version: number): void {
    this.#shown = version;
    this.#owed = version;
  }

  /**
   * Checks what is shown now against invariants 1 and 3, and records what is owed (invariant 2). Returns the version.
   */
  async look(): Promise<number> {
    const { world, instance, upstream } = this.#watched;
    const text = await world.data(instance);
    const version = text === null ? 0 : upstream.versionOf(text);
    if (version === undefined) throw new Error(`1: what is shown was never read: ${(text ?? '').slice(0, 80)}…`);
    expect(text === null || upstream.finished.has(version), '1: what is shown was read to the end').toBe(true);
    expect(version, '3: what is shown is not older than before').toBeGreaterThanOrEqual(this.#shown);
    this.#shown = version;
    await this.#readOutbox();
    return version;
  }

  /** Checks the end of a sync against its report: the exit code, the states and what is shown. */
  async ended({ signal, code, stdout, stderr, jobs }: Synced): Promise<number> {
    const shown = await this.look();
    if (signal !== null) {
      expect({ signal, stdout, stderr }).toEqual({ signal: 'SIGKILL', stdout: '', stderr: '' });
      return shown;
    }
    const [job] = jobs;
    expect(job, stderr).toBeDefined();
    const { state, problem } = job!;
    expect(code === 0, `${code} ${state}`).toBe(done.includes(state));
    if (code !== 0) expect(problem ?? job!.until, `${state} says why`).toBeDefined();
    else expect(shown, `${state} is true`).toBe(this.#watched.upstream.version);
    if (state === 'waiting_quota') expect(code).toBe(4);
    if (state === 'waiting_login') expect(code).toBe(3);
    return shown;
  }

  /**
   * Lets everything finish without changing the source. Checks that nothing owed was lost (invariant 2), that no run,
   * lease or file is left over, and that all requests were within the limits (invariant 4).
   */
  async rest(): Promise<void> {
    const { home, upstream } = this.#watched;
    const readable = upstream.has;
    const last = await home.syncHere();
    // A payload that failed before may have to wait for its next attempt.
    const owes = async () => (await home.state()).outbox.some(({ state }) => state === 'owed');
    while (await owes()) await home.syncHere();
    const shown = await this.ended(last);
    if (readable) expect({ code: last.code, shown }).toEqual({ code: 0, shown: upstream.version });
    else expect(last.jobs).toMatchObject([{ state: 'failed' }]);
    expect(shown, '2: what was owed is shown').toBeGreaterThanOrEqual(this.#owed);
    const { runs, outbox, leases } = await home.state();
    expect(outbox.filter(({ state }) => state === 'owed' || state === 'dead')).toEqual([]);
    expect(runs.filter(({ state }) => state === 'running' || state === 'owed')).toEqual([]);
    expect(leases).toEqual([]);
    await this.expectInOrder();
    await this.expectPaced();
  }

  /**
   * Checks the service's log: every upload that took effect contained a complete version, and none contained an older
   * one (1 and 3).
   */
  async expectInOrder(): Promise<void> {
    const taken = (await this.#uploads()).filter(({ status }) => status === 200);
    const versions = taken.map(({ bytes_in }) => this.#watched.upstream.versionOfSize(bytes_in));
    expect(versions, '1: only complete versions were accepted').not.toContain(undefined);
    expect(versions, '3: in order').toEqual(versions.toSorted((a, b) => a! - b!));
  }

  /**
   * Checks the service's log: no second and no Eastern day had too many requests, and every request was counted (4).
   */
  async expectPaced(): Promise<void> {
    const { home, allowance } = this.#watched;
    const uploads = await this.#uploads();
    expect(busiestWindow(uploads.map(({ arrived }) => arrived)), '4: a second').toBeLessThanOrEqual(5);
    for (const seen of Map.groupBy(uploads, ({ time }) => easternDay(time)).values()) {
      expect(seen.length, '4: a day').toBeLessThanOrEqual(allowance);
    }
    const paid = (await home.state()).quota.reduce((sum, { used }) => sum + used, 0);
    expect(paid, '4: every request was counted').toBeGreaterThanOrEqual(uploads.length);
  }

  #uploads(): Promise<Seen[]> {
    return this.#watched.control.uploads(this.#watched.instance);
  }

  async #readOutbox(): Promise<void> {
    const { home, upstream } = this.#watched;
    for (const { sha256, state } of (await home.state()).outbox) {
      const version = upstream.versionOfHash(sha256);
      expect(version, '1: only complete versions are owed').toBeDefined();
      expect(upstream.finished).toContain(version);
      if (state === 'owed') this.#owed = Math.max(this.#owed, version!);
    }
  }
}

const eastern = new Intl.DateTimeFormat('sv', { timeZone: 'America/New_York', dateStyle: 'short' });

/** The date (YYYY-MM-DD) of a time in New York. */
export function easternDay(time: string): string {
  return eastern.format(new Date(time));
}
