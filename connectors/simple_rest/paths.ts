import { renderText, type Scope, templateFault } from '#sdk';
import type { OptionFault } from './option-fault.ts';
import type { RestQuery } from './options.ts';

/** The query's path as a template; with `paths`, each scope has the value. */
export function withPathOf(query: RestQuery): RestQuery {
  return query.paths === undefined ? query : { ...query, path: '{{ each.path }}' };
}

/** One scope per path, or the scope itself. The scope's `each` has the path and its name. */
export function* scopesOfPaths({ paths }: RestQuery, scope: Scope): Generator<Scope> {
  if (paths === undefined) return yield scope;
  for (const one of paths) {
    const { path: written, name = written } = typeof one === 'string' ? { path: one } : one;
    yield { ...scope, each: { path: renderText(written, scope), name } };
  }
}

/** The path column of a page, and its name in the options. */
export function pathFact({ path_column }: Pick<RestQuery, 'path_column'>, { each }: Scope): Record<string, string> {
  const { name = '' } = (each ?? {}) as { name?: string };
  return path_column === undefined ? {} : { [path_column]: name };
}

/** Errors in `paths` and `path_column`. @param names the names that templates may contain. */
export function pathsFaults(query: RestQuery, names: ReadonlySet<string>): OptionFault[] {
  const { paths, path_column, header_columns } = query;
  const fault = (option: string, message: string | undefined) => (message === undefined ? [] : [{ option, message }]);
  if (paths === undefined) {
    return fault('path_column', path_column === undefined ? undefined : 'requires `paths`');
  }
  if (query.path !== undefined || query.endpoint_url !== undefined) {
    return fault('paths', 'cannot be combined with `path` or `endpoint_url`');
  }
  if (query.conditional) return fault('paths', 'cannot be combined with `conditional`');
  const written = paths.map((one) => (typeof one === 'string' ? one : one.path));
  const whole = written.find((one) => /^https?:\/\//i.test(one));
  if (whole !== undefined) return fault('paths', `cannot contain a full URL: ${whole}`);
  const labels = paths.map((one) => (typeof one === 'string' ? one : (one.name ?? one.path)));
  const twice = labels.find((label, i) => labels.indexOf(label) !== i);
  if (twice !== undefined) return fault('paths', `contains ${JSON.stringify(twice)} twice`);
  if (path_column !== undefined && Object.hasOwn(header_columns, path_column)) {
    return fault('path_column', 'cannot have the name of a column in `header_columns`');
  }
  const inner = templateFault(written, names);
  return fault('paths', inner === undefined ? undefined : `${inner}; \`paths\` cannot contain page values`);
}
