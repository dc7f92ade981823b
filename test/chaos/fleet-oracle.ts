import { expect } from 'vitest';
import type { State } from '../journey/home.ts';
import { busiestWindow, type Running } from '../journey/world.ts';
import { allowance, type FleetStage } from './fleet-stage.ts';
import { easternDay, Oracle } from './oracle.ts';
import type { Theatre } from './stage.ts';
import type { Upstream } from './upstream.ts';

interface FleetWatched extends Theatre {
  readonly stage: FleetStage;
  readonly upstream: Upstream;
}

type RunOfFleet = State['runs'][number];

/** States of runs whose result counts. */
const counted = new Set(['owed', 'delivered', 'superseded', 'unchanged', 'quarantined']);

/**
 * Knows the truth about jobs that several processes run: the versions of {@link Oracle} for each job, when each job
 * fired, and which processes died.
 */
export class FleetOracle {
  readonly #watched: FleetWatched;
  readonly #instances = new Map<string, string>();
  readonly #oracles: Oracle[] = [];
  readonly #firings: { readonly job: string; readonly at: number }[] = [];
  readonly #dead = new Set<number>();
  #hasLostState = false;

  constructor(watched: FleetWatched) {
    this.#watched = watched;
  }

  /** Watches these jobs; the values are their instances. */
  watch(jobs: Readonly<Record<string, string>>): void {
    const { stage, upstream, world, control } = this.#watched;
    for (const [job, instance] of Object.entries(jobs)) {
      this.#instances.set(job, instance);
      const home = { state: () => stage.state(job), syncHere: () => Promise.reject(new Error('not for a fleet')) };
      this.#oracles.push(new Oracle({ world, control, home, instance, upstream, allowance }));
    }
  }

  /** A firing of this job is due. */
  fired(job: string, at: number): void {
    this.#firings.push({ job, at });
  }

  /** This process was killed, or may have been considered dead. */
  died({ child }: Running): void {
    this.#dead.add(child.pid!);
  }

  /** The processes couldn't reach their state for a moment. A run that needed it then begins again afterwards. */
  lostState(): void {
    this.#hasLostState = true;
  }

  /**
   * Checks what all instances show against invariants 1 and 3, and records what is owed (invariant 2). Returns the
   * versions.
   */
  async look(): Promise<number[]> {
    const shown: number[] = [];
    for (const oracle of this.#oracles) shown.push(await oracle.look());
    return shown;
  }

  /** Checks everything after the fleet has settled and all of its processes have ended. */
  async rest(): Promise<void> {
    const { stage } = this.#watched;
    for (const oracle of this.#oracles) {
      const shown = await oracle.look();
      expect(shown, '2: what was owed is shown').toBeGreaterThanOrEqual(oracle.owed);
      await oracle.expectInOrder();
    }
    const { outbox, leases } = await stage.state();
    expect(outbox.filter(({ state }) => state === 'owed' || state === 'dead')).toEqual([]);
    expect(leases).toEqual([]);
    await this.#expectOnce();
    await this.expectPaced();
  }

  /** Each firing has begun once, or again after its process died; its result counts at most once. */
  async #expectOnce(): Promise<void> {
    const { runs, outbox } = await this.#watched.stage.state();
    const byFiring = Map.groupBy(runs, ({ job, fired_at }) => `${job} ${fired_at}`);
    for (const { job, at } of this.#firings) {
      const those = byFiring.get(`${job} ${at}`) ?? [];
      byFiring.delete(`${job} ${at}`);
      this.#expectFiredOnce(those, `the firing ${job} ${at}`);
    }
    expect([...byFiring.keys()], 'nothing else fired').toEqual([]);
    const owing = outbox.map(({ run }) => run);
    expect(owing, 'each run is owed at most once').toEqual([...new Set(owing)]);
  }

  #expectFiredOnce(runs: readonly RunOfFleet[], what: string): void {
    const told = `${what}: ${JSON.stringify(runs.map(({ state, code, owner }) => [state, code, owner]))}`;
    expect([1, 2], told).toContain(runs.length);
    expect(runs.filter(({ state }) => counted.has(state)).length, told).toBeLessThanOrEqual(1);
    for (const { state, code, owner } of runs.filter((run) => !counted.has(run.state))) {
      if (this.#hasLostState && code === 'STATE_UNREACHABLE') continue;
      expect([state, code], told).toEqual(['interrupted', 'RUN_INTERRUPTED']);
      expect(this.#dead, told).toContain((JSON.parse(owner) as unknown[])[3]);
    }
  }

  /** Checks the service's log: no second and no day had too many requests, and every request was counted (4). */
  async expectPaced(): Promise<void> {
    const { control, stage } = this.#watched;
    const uploads = (await Promise.all([...this.#instances.values()].map((one) => control.uploads(one)))).flat();
    expect(busiestWindow(uploads.map(({ arrived }) => arrived)), '4: a second').toBeLessThanOrEqual(5);
    for (const seen of Map.groupBy(uploads, ({ time }) => easternDay(time)).values())
      expect(seen.length, '4: a day').toBeLessThanOrEqual(allowance);
    const paid = (await stage.state()).quota.reduce((sum, { used }) => sum + used, 0);
    expect(paid, '4: every request was counted').toBeGreaterThanOrEqual(uploads.length);
  }
}
