import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import fc from '../../property.ts';
import { differences, type State, stateOf } from './dump.ts';
import { carryOut, type Plan, plans } from './requests.ts';
import { acme, rival, World } from './world.ts';

/**
 * SLUICE_FUZZ_REQUESTS sets the minimum number of requests (`npm run test:fuzz` sends more); SLUICE_FUZZ_SEED
 * determines which.
 */
const wanted = Number(process.env.SLUICE_FUZZ_REQUESTS ?? 5_000);
const firstSeed = Number(process.env.SLUICE_FUZZ_SEED ?? 1);
/** The time limit for shrinking a failed round. */
const shrinkMs = 60_000;

interface Round {
  readonly own: readonly Plan[];
  readonly foreign: readonly Plan[];
}

const rounds = fc.record({ own: plans(1_000), foreign: plans(2_000) });
let made = 0;
/** The requests and responses of the smallest round that failed. */
let said: readonly string[] = [];

/**
 * First Acme's users make calls, then Rival's. Rival's calls must not change anything that Acme can read, and in the
 * end neither company can read the other's data.
 */
async function play({ own, foreign }: Round): Promise<void> {
  const lines: string[] = [];
  let world: World | undefined;
  try {
    world = await World.start(lines);
    for (const plan of own) await carryOut(plan, acme, world);
    const before = await settled(world);
    for (const plan of foreign) await carryOut(plan, rival, world);
    const after = await settled(world);
    const changed = differences(before, after).filter((url) => !counts.test(url));
    const told = changed.map((url) => `${url} said ${before.get(url)} and then ${after.get(url)}`);
    expect(told.join('\n')).toBe('');
    const theirs = await stateOf(world, rival);
    expect([...world.leaksIn(acme.keeper, after.values()), ...world.leaksIn(rival.keeper, theirs.values())]).toEqual(
      [],
    );
  } catch (thrown) {
    said = lines;
    throw thrown;
  } finally {
    made += own.length + foreign.length;
    await world?.stop();
  }
}

/** Reports that every call changes, including the calls that read them. */
const counts = /\/usage-(overview\/api-usage|details\/api-calls)/;

/** What Acme can read after the requested refreshes. */
async function settled(world: World): Promise<State> {
  await setTimeout(20);
  return stateOf(world, acme);
}

/** The requests and responses of the smallest round, and how to repeat them. */
function report(seed: number, thrown: unknown): Error {
  const lines = [
    (thrown as Error).message,
    `The requests up to there, the last ${Math.min(said.length, 100)} of ${said.length}:`,
    ...said.slice(-100),
    `To make them again: SLUICE_FUZZ_SEED=${seed} SLUICE_FUZZ_REQUESTS=1`,
  ];
  return new Error(lines.join('\n'), { cause: thrown });
}

it(`the service handles ${wanted} random requests (from seed ${firstSeed}) without failures, leaks or changes to another company's data`, {
  timeout: 600_000,
}, async () => {
  for (let seed = firstSeed; made < wanted; seed++) {
    const property = fc.asyncProperty(rounds, play);
    const round = { seed, numRuns: 1 };
    const { failed, errorInstance } = await fc.check(property, { ...round, endOnFailure: true });
    if (!failed) continue;
    const shrunk = await fc.check(property, { ...round, interruptAfterTimeLimit: shrinkMs });
    throw report(seed, shrunk.errorInstance ?? errorInstance);
  }
});
