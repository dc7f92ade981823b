import { isMap } from '../../lib/is-map.ts';
import { spanOf } from '../../lib/span.ts';
import type { Guards } from '../config.ts';
import { changeFrom, presetChange, type Written } from '../options/guards.ts';

/**
 * The guards of a job: those that it names itself, each whole, then those of the top level, then the preset one.
 * `false` in a guard's place is none; in the place of all, none at all. Expects values that the schema has let through.
 */
export function loadGuards(job: unknown, top: unknown): Guards {
  if (job === false || (job === undefined && top === false)) return {};
  const preset = top === false ? {} : { row_change: presetChange, ...(isMap(top) ? top : {}) };
  const all: Partial<Written> = { ...preset, ...(isMap(job) ? job : {}) };
  return {
    ...(all.rows ? { rows: all.rows } : {}),
    ...(all.row_change ? { rowChange: changeOf(all.row_change) } : {}),
    ...(all.columns ? { columns: all.columns } : {}),
    ...(all.nulls ? { nulls: new Map(Object.entries(all.nulls).map(([name, most]) => [name, partOf(most)])) } : {}),
    ...(all.newest ? { newest: { column: all.newest.column, withinMs: spanOf(all.newest.within) } } : {}),
    ...(all.bytes ? { bytes: all.bytes } : {}),
    ...(all.complete ? { complete: true } : {}),
    ...(all.exact ? { exact: true } : {}),
  };
}

function changeOf({
  down,
  up,
  from = changeFrom,
}: Exclude<Written['row_change'], false>): NonNullable<Guards['rowChange']> {
  return {
    down: down === undefined ? undefined : partOf(down),
    up: up === undefined ? undefined : partOf(up),
    from,
  };
}

const partOf = (percent: string): number => Number.parseFloat(percent) / 100;
