import type { Guards } from '../config.ts';
import { readOptions, readWritten, type Values } from '../options/field.ts';
import { guardOptions } from '../options/guards.ts';
import { below } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import type { Part } from '../text/variables.ts';

/** Guards as written in the config; `false` disables a guard. */
export type WrittenGuards = Partial<Values<typeof guardOptions>>;

/** The top-level guards, including the default guard. `false` disables all guards. */
export function loadTopGuards(at: Part, faults: Faults): WrittenGuards {
  if (at.value === false) return {};
  return checkBounds(readOptions(guardOptions, at, faults), at, faults);
}

/**
 * A job's guards. Each of the job's own guards completely replaces the top-level guard of the same kind; the other
 * top-level guards also apply. `false` disables all guards.
 */
export function loadGuards(at: Part, top: WrittenGuards, faults: Faults): Guards {
  if (at.value === false) return {};
  const all = { ...top, ...checkBounds(readWritten(guardOptions, at, faults), at, faults) };
  return Object.fromEntries(Object.entries(all).filter(([, guard]) => guard !== false)) as Guards;
}

/** Reports an error that the schema can't detect: bounds that exclude every value. */
function checkBounds(guards: WrittenGuards, { path }: Part, faults: Faults): WrittenGuards {
  for (const name of ['rows', 'bytes'] as const) {
    const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = guards[name] || {};
    if (minimum <= maximum) continue;
    faults.add({
      code: 'CONFIG_GUARDS',
      message: `No result can pass: the minimum of "${name}" is greater than its maximum`,
      path: below(below(path, name), 'minimum'),
      seen: `minimum ${minimum}, maximum ${maximum}`,
      next: `set the minimum to ${maximum} or less, or delete one of them`,
    });
  }
  return guards;
}
