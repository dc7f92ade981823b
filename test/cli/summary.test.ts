import { describe, expect, it } from 'vitest';
import { exit, exitCodeAfter } from '../../src/cli/exit.ts';
import { exitCodeOf } from '../../src/cli/sync/summary.ts';
import type { RunOutcome } from '../../src/daemon/run/run-outcome.ts';
import { Problem } from '../../src/lib/problem.ts';

type Family = Problem['family'];

function problem(family: Family, where: object = {}, code = 'SOME_CODE'): Problem {
  return new Problem({ code, family, message: 'something is wrong', where });
}

function outcome(state: RunOutcome['state'], more?: Problem): RunOutcome {
  const nothing = { job: 'j', rows: 0, bytes: 0, requests: 0, milliseconds: 0 };
  return { ...nothing, state, ...(more === undefined ? {} : { problem: more }) };
}

describe("a sync's exit code", () => {
  const delivered = outcome('delivered');
  const lost = outcome('failed', problem('job'));
  const refused = outcome('waiting_login', problem('login', { destination: 'main' }));
  const spent = outcome('waiting_quota');

  it.each<[string, readonly RunOutcome[], number]>([
    ['0 without any job', [], exit.ok],
    [
      '0 if each instance shows the newest data',
      ['delivered', 'unchanged', 'refreshed', 'superseded'].map((state) => outcome(state as 'delivered')),
      exit.ok,
    ],
    ['1 if a job failed', [delivered, lost], exit.failed],
    ['1 if a payload is dead', [outcome('dead', problem('job'))], exit.failed],
    ['1 if a result is quarantined', [outcome('quarantined', problem('row'))], exit.failed],
    ['1 if a payload waits for another attempt', [outcome('waiting_retry', problem('try_later'))], exit.failed],
    ['1 if a job is on hold, or busy with another run', [outcome('on_hold')], exit.failed],
    ['1 if a source refuses its login', [outcome('failed', problem('login', { source: 'shop' }))], exit.failed],
    ['3 if the destination refuses the credentials', [delivered, refused], exit.refused],
    [
      '3 if it refused them before anything was owed',
      [outcome('failed', problem('login', { destination: 'main' }))],
      exit.refused,
    ],
    ["4 if the destination's daily allowance is used up", [delivered, spent], exit.waiting],
    [
      "4 if a source's daily allowance is used up",
      [outcome('failed', problem('quota', { source: 'shop' }))],
      exit.waiting,
    ],
    [
      '70 if the installation is incomplete',
      [outcome('failed', problem('bug', {}, 'INSTALLATION_INCOMPLETE'))],
      exit.bug,
    ],
    ['1 before 4', [spent, lost], exit.failed],
    ['3 before 1 and 4', [spent, lost, refused], exit.refused],
    ['70 before 3', [refused, outcome('failed', problem('bug', {}, 'INSTALLATION_INCOMPLETE'))], exit.bug],
  ])('is %s', (_, outcomes, code) => {
    expect(exitCodeOf(outcomes, [])).toBe(code);
  });

  it('is 2 if a config error excluded a job, even if other jobs failed', () => {
    for (const outcomes of [[], [delivered], [lost, refused, spent]])
      expect(exitCodeOf(outcomes, ['wrong'])).toBe(exit.usage);
  });
});

it.each<[Family, number]>([
  ['config', 2],
  ['login', 3],
  ['quota', 4],
  ['bug', 70],
  ['try_later', 1],
  ['row', 1],
  ['job', 1],
])('a command that ends with an error in the %s family exits with %i', (family, code) => {
  expect(exitCodeAfter(problem(family))).toBe(code);
});
