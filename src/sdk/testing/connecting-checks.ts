import assert, { fail } from 'node:assert/strict';
import type { Family } from '../../lib/problem.ts';
import type { Bench } from './bench.ts';
import { type Promised, problemOf } from './check.ts';
import { faultsOf } from './declared.ts';
import type { OptionChanges } from './world.ts';

/** Checks for connections: invalid options, a working source, wrong credentials and an unreachable server. */
export const connectingChecks: readonly Promised[] = [
  {
    name: 'rejects invalid options before it connects, and reports which one is invalid',
    needs: 'refused',
    look: refusesBad,
  },
  { name: 'reports the result of a check in a sentence', look: saysWhatItFound },
  {
    name: 'reports wrong credentials as a login problem, in a check and in an extract',
    needs: 'credentials',
    look: (bench) => failsAs(bench, bench.place.credentials!, 'login'),
  },
  {
    name: 'distinguishes an unreachable server from a refused login',
    needs: 'unreachable',
    look: (bench) => failsAs(bench, bench.place.unreachable!, bench.place.unreachable!.family ?? 'try_later'),
  },
];

async function refusesBad(bench: Bench): Promise<void> {
  const refused = bench.place.refused ?? [];
  if (refused.length === 0) fail('the world defines no invalid options');
  for (const { option, ...reading } of refused) {
    const { source, query } = bench.given(reading);
    const faults = faultsOf(bench.connector, source, query);
    const shown = JSON.stringify(reading);
    const blamed = faults.filter((fault) => fault.option === option);
    assert.ok(
      blamed.length > 0,
      `${shown}: the error should be at "${option}"; reported errors: ${JSON.stringify(faults)}`,
    );
    for (const { message } of blamed)
      assert.match(message, /\S+ \S+/, `${shown}: "${message}" does not say what to do`);
  }
}

async function saysWhatItFound(bench: Bench): Promise<void> {
  const { source, query } = bench.given();
  assert.deepEqual(faultsOf(bench.connector, source, query), [], "the world's valid options are rejected");
  const message = await bench.check();
  assert.match(message, /\S+ \S+/, `"${message}" is not a sentence about the result`);
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
