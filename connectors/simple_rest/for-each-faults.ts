import { Problem } from '#sdk';
import { listedParents, namesInRequests, parentQuery } from './for-each.ts';
import type { ForEach } from './for-each-options.ts';
import type { OptionFault } from './option-fault.ts';
import type { RestQuery } from './options.ts';

interface ForEachSource {
  /** The source's URL, to which the path of the parents is relative. */
  readonly url: string | undefined;
  /** Checks the query that returns the parents. */
  readonly faultsOf: (query: RestQuery) => OptionFault[];
}

/**
 * Errors in `for_each` and `parent_columns`.
 */
export function forEachFaults(query: RestQuery, { url, faultsOf }: ForEachSource): OptionFault[] {
  const { for_each: given, parent_columns, path_column, header_columns, page_columns } = query;
  const columns = Object.keys(parent_columns);
  if (given === undefined) {
    return columns.length === 0 ? [] : [{ option: 'parent_columns', message: 'requires `for_each`' }];
  }
  const message = combinationFault(query) ?? sourceFault(given, query, { url, faultsOf });
  if (message !== undefined) return [{ option: 'for_each', message }];
  const twice = columns.find(
    (column) => column === path_column || Object.hasOwn({ ...header_columns, ...page_columns }, column),
  );
  if (twice === undefined) return [];
  return [{ option: 'parent_columns', message: `has the name of another added column: ${twice}` }];
}

/** Why the query can't be repeated. */
function combinationFault(query: RestQuery): string | undefined {
  const { paths, report, conditional, cursor } = query;
  const other = Object.entries({ paths, report, conditional }).find(
    ([, value]) => value !== undefined && value !== false,
  );
  if (other !== undefined) return `cannot be combined with \`${other[0]}\``;
  if (cursor !== undefined)
    return 'cannot be combined with `cursor`, because older records of new parents would be missed';
  const { column = 'id' } = query.for_each ?? {};
  if (namesInRequests(query).length === 0) return `is not used: put \`{{ parent.${column} }}\` into the request`;
  return undefined;
}

/** Options of `for_each` that belong to one kind of parents. `undefined`: to all kinds. All others belong to `path`. */
const kindOf: Readonly<Record<string, 'values' | 'job' | undefined>> = {
  ...{ values: 'values', job: 'job', column: 'job', max_age: 'job' },
  ...{ missing: undefined, concurrency: undefined, max_parents: undefined },
};

function sourceFault(given: ForEach, query: RestQuery, source: ForEachSource): string | undefined {
  const kind = (['values', 'job', 'path'] as const).find((one) => given[one] !== undefined);
  if (kind === undefined) return 'requires `path`, `job` or `values`';
  const other = Object.keys(given).find((name) => {
    const wanted = Object.hasOwn(kindOf, name) ? kindOf[name] : 'path';
    return wanted !== undefined && wanted !== kind;
  });
  if (other !== undefined) return `cannot have both \`${kind}\` and \`${other}\``;
  if (kind === 'job') return given.column === undefined ? 'requires `column` with `job`' : undefined;
  return kind === 'path' ? pathFault(given, source) : listFault(given.values!, query);
}

function pathFault(given: ForEach, { url, faultsOf }: ForEachSource): string | undefined {
  const { path = '' } = given;
  if (/^https?:\/\//i.test(path)) return `cannot have a full URL as \`path\`: ${path}`;
  if (url === undefined) return "requires the source's `url` for its `path`";
  const fault = faultsOf(parentQuery(given))[0];
  return fault === undefined ? undefined : `\`${fault.option}\` ${fault.message}`;
}

function listFault(values: NonNullable<ForEach['values']>, query: RestQuery): string | undefined {
  try {
    listedParents(values, query);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return `has an error: ${error.message}`;
    throw error;
  }
}
