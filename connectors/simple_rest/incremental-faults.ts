import type { OptionFault } from './option-fault.ts';
import type { RestQuery } from './options.ts';

/** The options that are omitted as a whole if a template in them has no value. */
const undivided = ['path', 'endpoint_url'] as const;

/** Errors in `cursor` and the options that belong to it. @param requests the options that contain the request. */
export function incrementalFaults(query: RestQuery, requests: readonly unknown[]): OptionFault[] {
  const { cursor, lag, start, null_cursors, window, conditional, paths } = query;
  if (cursor === undefined) {
    const given = Object.entries({ lag, start, null_cursors: null_cursors === 'refuse' ? undefined : null_cursors });
    return given.flatMap(([option, value]) =>
      value === undefined ? [] : [{ option, message: 'requires `cursor`, the column that it applies to' }],
    );
  }
  const unfilled = (name: string) => undivided.find((option) => needs(query[option], name));
  const [since, until] = [unfilled('since'), unfilled('until')];
  const rules: [isBroken: boolean, option: string, message: string][] = [
    [conditional, 'cursor', 'cannot be combined with `conditional`'],
    [
      paths !== undefined,
      'cursor',
      'cannot be combined with `paths`, because new records of a path would be missed if another path has higher values; use one job per path',
    ],
    [!uses(requests, 'since'), 'cursor', 'is not used: put `{{ since }}` into the request'],
    [
      start === undefined && window !== undefined,
      'start',
      'is required, because `window` starts there in the first run',
    ],
    [
      start === undefined && window === undefined && since !== undefined,
      'start',
      `is required, because \`{{ since }}\` in \`${since}\` would have no value in the first run; in \`parameters\`, it would be omitted`,
    ],
    [
      window === undefined && until !== undefined,
      until ?? '',
      'contains `{{ until }}`, which has a value only in a backfill or with `window`; in `parameters`, it is omitted otherwise',
    ],
  ];
  return rules.flatMap(([isBroken, option, message]) => (isBroken ? [{ option, message }] : []));
}

function uses(value: unknown, name: string): boolean {
  return placeholders(value, name).length > 0;
}

function needs(value: unknown, name: string): boolean {
  return placeholders(value, name).some((one) => !/\|\s*default\b/.test(one));
}

function placeholders(value: unknown, name: string): string[] {
  const text = JSON.stringify(value ?? '');
  return [...text.matchAll(/\{\{[^}]*\}\}/g)].flatMap(([one]) => (new RegExp(`\\b${name}\\b`).test(one) ? [one] : []));
}
