import type { Misfire, Overlap, Rules } from '../../schedule/schedule.ts';
import { misfirePolicies, runAllDefaults, type WrittenMisfire } from '../options/schedule.ts';
import { readSpan } from '../options/times.ts';
import type { Faults } from '../text/faults.ts';
import { showValue } from '../text/show-value.ts';
import { type Part, partAt } from '../text/variables.ts';
import type { SpreadRule } from './context.ts';

/** The rules as they are written, at the top level or in a schedule. */
interface Written {
  readonly misfire?: WrittenMisfire | undefined;
  readonly overlap?: Overlap | undefined;
  readonly spread?: string | undefined;
}

export interface RulesGiven {
  /** What goes where nothing is written. */
  readonly rules: Rules & SpreadRule;
  /** Where an option stands in the file. */
  readonly place: (option: 'misfire' | 'overlap' | 'spread') => Part;
  readonly faults: Faults;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** What goes with a schedule; undefined when it has a fault. Leaves to the schema what the schema has said. */
export function loadRules(written: Written, { rules, place, faults }: RulesGiven): (Rules & SpreadRule) | undefined {
  const before = faults.problems.length;
  const misfire = written.misfire === undefined ? rules.misfire : misfireOf(written.misfire, place('misfire'), faults);
  const overlap = written.overlap ?? rules.overlap;
  const spread =
    typeof written.spread === 'string'
      ? spanAt(place('spread'), { of: 'a spread', from: 0, to: dayMs, faults })
      : rules.spread;
  if (faults.problems.length > before) return undefined;
  return {
    misfire,
    overlap,
    spread,
  };
}

function misfireOf(written: WrittenMisfire, at: Part, faults: Faults): Misfire | undefined {
  const given = typeof written === 'string' ? { policy: written } : written;
  const { policy, within, at_most: atMost } = given;
  // The schema has told it already.
  if (!misfirePolicies.includes(policy)) return undefined;
  if (within !== undefined && policy === 'skip') tellStray(partAt(at, 'within'), '"within"', faults);
  if (atMost !== undefined && policy !== 'run_all') tellStray(partAt(at, 'at_most'), '"at_most"', faults);
  const text = within ?? (policy === 'run_all' ? runAllDefaults.within : undefined);
  const bound =
    typeof text !== 'string'
      ? undefined
      : spanAt({ ...partAt(at, 'within'), value: text }, { of: '"within"', from: minuteMs, to: 366 * dayMs, faults });
  return {
    policy,
    within: bound,
    ...(policy === 'run_all' ? { atMost: atMost ?? runAllDefaults.atMost } : {}),
  };
}

function spanAt(
  at: Part,
  { faults, ...bounds }: { of: string; from: number; to: number; faults: Faults },
): number | undefined {
  if (at.broken.has(at.path)) return undefined;
  const told = readSpan(String(at.value), bounds);
  if ('value' in told) return told.value;
  const { fault, allowed, next } = told;
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message: `Invalid schedule: ${fault}`,
    path: at.path,
    seen: showValue(at.value),
    allowed,
    next,
  });
  return undefined;
}

function tellStray(at: Part, option: string, faults: Faults): void {
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message: `This misfire policy does not use ${option}`,
    path: at.path,
    on: 'key',
    allowed: 'within: with run_once and run_all; at_most: with run_all',
    next: `Delete ${option}`,
  });
}
