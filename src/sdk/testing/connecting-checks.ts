import assert from 'node:assert/strict';
import type { Family } from '../../lib/problem.ts';
import type { Bench } from './bench.ts';
import { fail, type Promised, problemOf } from './check.ts';
import { faultsOf } from './declared.ts';
import type { OptionChanges } from './world.ts';

/** How it meets its place: bad options, a good hello, a closed door, an empty house. */
export const connectingChecks: readonly Promised[] = [
  {
    name: 'refuses bad options before it touches anything, and blames the right one',
    needs: 'refused',
    look: refusesBad,
  },
  { name: 'says in a sentence what it found when it is asked to check', look: saysWhatItFound },
  {
    name: 'takes wrong credentials for what they are, in a check and in an extract',
    needs: 'credentials',
    look: (bench) => failsAs(bench, bench.place.credentials!, 'login'),
  },
  {
    name: 'tells a place where nobody is from a place that says no',
    needs: 'nobody',
    look: (bench) => failsAs(bench, bench.place.nobody!, bench.place.nobody!.family ?? 'try_later'),
  },
];

async function refusesBad(bench: Bench): Promise<void> {
  const refused = bench.place.refused ?? [];
  if (refused.length === 0) fail('the world shows no options that have to be refused');
  for (const { option, ...reading } of refused) {
    const { source, query } = bench.given(reading);
    const faults = faultsOf(bench.connector, source, query);
    const shown = JSON.stringify(reading);
    const blamed = faults.filter((fault) => fault.option === option);
    assert.ok(blamed.length > 0, `${shown}: "${option}" was to be blamed; blamed was ${JSON.stringify(faults)}`);
    for (const { message } of blamed)
      assert.match(message, /\S+ \S+/, `${shown}: "${message}" tells nobody what to do`);
  }
}

async function saysWhatItFound(bench: Bench): Promise<void> {
  const { source, query } = bench.given();
  assert.deepEqual(faultsOf(bench.connector, source, query), [], 'the good options of the world are refused');
  const said = await bench.check();
  assert.match(said, /\S+ \S+/, `"${said}" is no sentence about what was found`);
}

async function failsAs(
  bench: Bench,
  reading: OptionChanges & { login?: Bench['place']['login'] },
  family: Family,
): Promise<void> {
  const how = reading.login === undefined ? {} : { login: reading.login };
  for (const act of [() => bench.check(reading, how), () => bench.read(reading, how)]) {
    const problem = await problemOf(act(), [family]);
    const isMended = problem.next !== undefined || problem.allowed !== undefined || family === 'try_later';
    assert.ok(isMended, `${problem.code} does not say what to do next`);
  }
}
