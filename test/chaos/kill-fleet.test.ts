import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite, type Start } from '../journey/process.ts';
import { until } from '../journey/world.ts';
import { describeWithServer } from '../servers/describe.ts';
import { FleetStage, isDead, isStopped } from './fleet-stage.ts';
import { handOf, isOnRequest, randomOf, seedPairs } from './seeds.ts';
import { openTheatre, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;
const hourMs = 3_600_000;
/** On request, all of a seed's steps are tested. */
const timeout = 1_800_000;
const first = (count: number) => (isOnRequest ? undefined : count);
/** Changes and events that don't belong to a run. */
const aside = /heartbeats|settings|usage|daemon\.|monitor|account_history|migrations/;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** A clock that is up to four hours off. Processes must use the server's. */
function clock(random: () => number): Start {
  const shift = Math.round((random() - 0.5) * 8 * hourMs);
  return { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: String(shift) } };
}

describeWithServer({ servers: 'PostgreSQL' }, 'processes that share a state in a database', (server) => {
  /** Every change and event of a process that plans, runs and sends, in order. */
  let steps: readonly string[];

  beforeAll(async () => {
    const stage = await FleetStage.open(theatre, { server: server(), scope });
    await stage.fire();
    stage.upstream.advance();
    const process = stage.start({ step: '', how: { scope } });
    await stage.untilSettled();
    await stage.end(process);
    const all = await stage.steps();
    steps = all.slice(0, all.indexOf('say daemon.stopping #1')).filter((step) => !aside.test(step));
  });

  it('take durable steps: lease, firing, claim, run, payload, outbox, slot, receipt, outcome', () => {
    for (const step of [
      'commit insert into leases',
      'commit insert into fleet_runs',
      'commit update fleet_runs set owner',
      'commit update fleet_runs set run',
      'say payload.spooled',
      'commit update blobs set sha256',
      'say payload.owed',
      'commit update fleet_runs set outcome',
      'commit delete from fleet_runs',
      'commit update runs set requests',
      'say request.sent',
      'commit update send_slots set free_at',
      'say request.answered',
      'say payload.delivered',
      'commit delete from leases',
    ]) {
      expect(steps).toContain(`${step} #1`);
      if (step.startsWith('commit ')) expect(steps).toContain(`done ${step} #1`);
    }
  });

  /**
   * A step that a process without helpers is sure to reach in a new state: others are counted differently if the state
   * has rows already, or if another process does a part of the work. Nothing is settled before the first delivery.
   */
  function sureStepOf(seed: number): string {
    const before = steps.slice(0, steps.indexOf('say payload.delivered #1'));
    const [step] = handOf(
      seed,
      before.filter((one) => one.endsWith(' #1')),
    );
    return step!;
  }

  /** What a seed tests. First the steps until payloads are owed, which another process can follow up at once. */
  function handsOf(
    seed: number,
    count: number,
  ): { readonly until: readonly string[]; readonly after: readonly string[] } {
    const hand = handOf(seed, steps).slice(0, first(count));
    const isBefore = (step: string) => steps.indexOf(step) < steps.indexOf('say payload.owed #1');
    return { until: hand.filter(isBefore), after: hand.filter((step) => !isBefore(step)) };
  }

  it.for(seedPairs)(
    'show only complete versions, never an older one, lose nothing owed, keep the limits and run each firing once if they are killed before or after each step, whatever their clocks show (seed %i)',
    { timeout },
    async (seed) => {
      const random = randomOf(seed);
      const stage = await FleetStage.open(theatre, { server: server() });
      const { upstream, oracle } = stage;
      const hands = handsOf(seed, 4);
      /** Lets a process die at a step. It also recovers what the one before it left. */
      const dieAt = async (step: string): Promise<boolean> => {
        upstream.advance({ large: random() < 0.3 });
        await stage.fire();
        const victim = stage.start({ step, how: clock(random) });
        oracle.died(victim);
        await stage.untilSettled(victim);
        const hasDied = isDead(victim);
        victim.child.kill('SIGKILL');
        await victim.ended;
        await oracle.look();
        return hasDied;
      };
      expect(await dieAt(sureStepOf(seed)), 'a process dies at its step').toBe(true);
      const helper = stage.start({ args: ['--work-only', '--concurrency', '1'], how: clock(random) });
      oracle.died(helper);
      for (const step of hands.until) await dieAt(step);
      helper.child.kill('SIGKILL');
      await helper.ended;
      for (const step of hands.after) await dieAt(step);
      await stage.rest();
    },
  );

  it.for(seedPairs)(
    'do the same if the database restarts before or after each step (seed %i)',
    { timeout },
    async (seed) => {
      const random = randomOf(seed);
      const stage = await FleetStage.open(theatre, { server: server() });
      const restart = async () => {
        await server().kill();
        await server().restart();
      };
      for (const step of handOf(seed, steps).slice(0, first(1))) {
        stage.upstream.advance({ large: random() < 0.3 });
        await stage.disturbAt(step, restart, clock(random));
      }
      await stage.rest();
    },
  );

  describe.runIf(isOnRequest)('of which one is stopped for 45 s', () => {
    it.for([
      { where: 'after it has taken a slot', step: 'done commit update runs set requests #1' },
      { where: 'right before it connects to send', step: 'say upload.started #1' },
      { where: 'after it has stored a payload that is not owed', step: 'done commit update blobs set sha256 #1' },
      { where: 'in the transaction that owes a payload', step: 'commit update runs set state #1' },
      { where: 'after it has taken a run', step: 'done commit update fleet_runs set owner #1' },
    ])('$where, exceed no limit and run each firing once', { timeout }, async ({ step }) => {
      // At the pace of four slots, the payloads last until the process goes on.
      const stage = await FleetStage.open(theatre, { server: server(), jobs: 160, top: { concurrency: 4 } });
      stage.upstream.advance();
      await stage.fire();
      const stopped = stage.start({ step, by: 'SIGSTOP' });
      stage.oracle.died(stopped);
      await until('the process to be stopped', () => isStopped(stopped));
      const other = stage.start();
      await wait(45_000);
      await stage.oracle.look();
      stopped.child.kill('SIGCONT');
      await stage.untilSettled();
      await stage.end(stopped);
      await stage.end(other);
      await stage.oracle.rest();
    });
  });
});
