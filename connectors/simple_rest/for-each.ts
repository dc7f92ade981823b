import {
  cellText,
  cutText,
  type Extraction,
  httpProblem,
  Problem,
  parseExact,
  type RowsOf,
  registerSecret,
  secondsOf,
  secretWord,
  storedRow,
  textOf,
  valueAt,
  withDefaults,
} from '#sdk';
import { defaultConcurrency, defaultMaxParents, type ForEach } from './for-each-options.ts';
import { query as queryOptions, type RestQuery } from './options.ts';

/** The values of a parent that the query uses. */
export type Parent = Readonly<Record<string, unknown>>;

/** The names in `{{ parent.NAME }}` in the requests of a query. */
export function namesInRequests({ path, endpoint_url, parameters, body, form, paging }: RestQuery): string[] {
  const requests = JSON.stringify([path, endpoint_url, parameters, body, form, paging]);
  return [...new Set([...requests.matchAll(/\{\{[^}]*?\bparent\.([\w$@.]*[\w$@])/g)].map(([, name]) => name!))];
}

/** The names of the parent's values that a query needs. */
export function namesOfParents(query: RestQuery): readonly string[] {
  const { for_each, parent_columns } = query;
  const column = for_each?.column === undefined ? [] : [for_each.column];
  return [...new Set([...column, ...namesInRequests(query), ...Object.values(parent_columns)])];
}

/** The query that returns the parents. */
export function parentQuery({ values, missing, concurrency, max_parents, ...request }: ForEach): RestQuery {
  return withDefaults(queryOptions, request);
}

/** Maximum number of requests at once. */
export function requestsAtOnce({ for_each }: RestQuery): number {
  return for_each === undefined ? 1 : (for_each.concurrency ?? defaultConcurrency);
}

/** The query for a parent: with `missing: skip`, the status 404 means that there are no records. */
export function childQuery(query: RestQuery): RestQuery {
  if (query.for_each?.missing !== 'skip') return query;
  return { ...query, answers: [...query.answers, { status: 404, means: 'missing' }] };
}

interface ParentSources {
  /** Reads the query that returns the parents. */
  readonly read: (query: RestQuery) => Promise<Extraction>;
  /** Opens the last rows of another job. */
  readonly rowsOf: RowsOf | undefined;
}

/**
 * The parents of a query; undefined if it has no `for_each`.
 * @throws Problem if there are too many, if one lacks a value, or if two would send the same requests.
 */
export async function parentsOf(
  query: RestQuery,
  { read, rowsOf }: ParentSources,
): Promise<readonly Parent[] | undefined> {
  const { for_each: given } = query;
  if (given === undefined) return undefined;
  if (given.values !== undefined) return listedParents(given.values, query);
  const table = given.job === undefined ? await read(parentQuery(given)) : await rowsOfJob(given.job, given, rowsOf);
  const parents = await parentsIn(table, given, namesOfParents(query));
  registerTokens(parents, query);
  if (given.column !== undefined) checkValues(parents, query, [given.column]);
  checkValues(parents, query, namesInRequests(query));
  return parents;
}

async function parentsIn(
  { columns, batches }: Pick<Extraction, 'columns' | 'batches'>,
  given: ForEach,
  names: readonly string[],
): Promise<readonly Parent[]> {
  const parents: Parent[] = [];
  const seen = new Set<string>();
  // The rows of a job can name a parent many times, such as the customer of each order.
  const isKnown = (cells: readonly unknown[]) =>
    given.job !== undefined && seen.size === seen.add(JSON.stringify(cells)).size;
  for await (const batch of batches) {
    const cells = names.map((name) => columns.findIndex((column) => column.name === name));
    const unknown = names.find((_, i) => cells[i]! < 0);
    if (unknown !== undefined) throw noValue(unknown, given, { known: columns.map(({ name }) => name) });
    for (let i = 0; i < batch.length; i++) {
      const texts = cells.map((c) => cellText(batch.cells[c]!, columns[c]!.type, storedRow(batch, i)));
      if (isKnown(texts)) continue;
      const values = texts.map((cell, n) => typed(cell, columns[cells[n]!]!.type));
      parents.push(nested(names, values));
    }
    checkCount(parents.length, given);
  }
  return parents;
}

function rowsOfJob(job: string, { max_age }: ForEach, rowsOf: RowsOf | undefined) {
  if (rowsOf === undefined) throw new Error(`the rows of job ${job} are not available here`);
  return rowsOf(job, { maxAgeMs: max_age === undefined ? undefined : secondsOf(max_age) * 1000 });
}

/** The parents in the config. */
export function listedParents(values: NonNullable<ForEach['values']>, query: RestQuery): readonly Parent[] {
  const parents = values.map((value) => (typeof value === 'object' ? value : { value }));
  const given = query.for_each!;
  checkCount(parents.length, given);
  registerTokens(parents, query);
  checkValues(parents, query, namesInRequests(query));
  // A parent may lack a value for a column, but not all of them.
  const isIn = (name: string) => parents.some((parent) => textOf(valueAt(parent, name)) !== undefined);
  const unknown = Object.values(query.parent_columns).find((name) => !isIn(name));
  if (unknown !== undefined) throw noValue(unknown, given, { known: [...new Set(parents.flatMap(Object.keys))] });
  return parents;
}

/** The columns of a parent. */
export function parentFacts({ parent_columns }: Pick<RestQuery, 'parent_columns'>, parent: unknown) {
  return Object.fromEntries(
    Object.entries(parent_columns).map(([column, name]) => [column, textOf(valueAt(parent, name))]),
  );
}

function checkCount(parents: number, { max_parents: most = defaultMaxParents }: ForEach): void {
  if (parents <= most) return;
  throw httpProblem('REST_MAX_PARENTS', 'job', `\`for_each\` has more than ${most} parents`, {
    allowed: String(most),
    next: 'raise `max_parents`, or request fewer parents; no data was sent',
  });
}

/**
 * Some APIs give each parent its own token (`{{ parent.access_token }}`), which must be redacted before a message names
 * the parent.
 */
function registerTokens(parents: readonly Parent[], query: RestQuery): void {
  const names = namesInRequests(query).filter((name) => secretWord.test(name));
  for (const name of names) for (const parent of parents) registerSecret(textOf(valueAt(parent, name)) ?? '');
}

/** Each parent must have a value for each of these names, and no two parents may have the same values. */
function checkValues(parents: readonly Parent[], query: RestQuery, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const [index, parent] of parents.entries()) {
    const values = names.map((name) => textOf(valueAt(parent, name)));
    const missing = values.indexOf(undefined);
    if (missing >= 0)
      throw noValue(names[missing]!, query.for_each!, { number: index + 1, known: Object.keys(parent) });
    const key = JSON.stringify(values);
    if (seen.has(key)) throw twice(query, parent);
    seen.add(key);
  }
}

function noValue(
  name: string,
  { job }: ForEach,
  { number, known }: { number?: number; known: readonly string[] },
): Problem {
  const which = number === undefined ? 'The parents have' : `Parent ${number} has`;
  return httpProblem('REST_PARENT_VALUE', 'job', `${which} no value \`${name}\``, {
    allowed: known.join(', '),
    next: `check the names after \`parent.\` and in \`parent_columns\`, and ${job === undefined ? '`records` in `for_each`' : `the rows of job ${job}`}; no data was sent`,
  });
}

function twice(query: RestQuery, parent: Parent): Problem {
  const { job } = query.for_each!;
  return httpProblem('REST_PARENT_TWICE', 'job', '`for_each` has a parent twice, so its records would be duplicated', {
    seen: parentText(query, parent),
    next:
      job === undefined
        ? 'remove the duplicate; if the server returns parents page by page, sort them by a key that does not change; no data was sent'
        : `set \`column\` to a column that identifies a parent, and use only values that are the same in all of its rows in job ${job}; no data was sent`,
  });
}

/** A value with its JSON type. Numbers keep their digits. */
function typed(cell: string | null, type: string): unknown {
  if (cell === null || !['integer', 'decimal', 'float', 'boolean', 'json'].includes(type)) return cell;
  return /^-?(?:NaN|Infinity)$/.test(cell) ? cell : parseExact(cell);
}

/** An object with values at these names, whose parts are joined by dots. */
function nested(names: readonly string[], values: readonly unknown[]): Parent {
  const parent: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) {
    const steps = name.split('.');
    let inside = parent;
    for (const step of steps.slice(0, -1)) {
      inside[step] ??= {};
      inside = inside[step] as Record<string, unknown>;
    }
    inside[steps.at(-1)!] = values[i];
  }
  return parent;
}

/** The values that distinguish a parent from the others in messages: `id 4711`. */
export function parentText(query: RestQuery, parent: unknown): string {
  return cutText(
    namesInRequests(query)
      .map((name) => `${name} ${textOf(valueAt(parent, name))}`)
      .join(', '),
    80,
  );
}

interface ChildOptions {
  readonly query: RestQuery;
  readonly parent: Parent;
  /** Whether the parent's first page failed. */
  readonly isFirstPage: boolean;
}

/**
 * Names the parent whose page failed. Adds advice if it may have no records, because some servers respond with 404 then.
 */
export function childProblem(error: unknown, { query, parent, isFirstPage }: ChildOptions): unknown {
  if (!(error instanceof Problem) || error.family === 'login') return error;
  const problem = error.with({ message: `${error.message} (parent: ${parentText(query, parent)})` });
  if (!isFirstPage || error.code !== 'REST_NOT_FOUND') return problem;
  const next =
    'if the server responds like this to parents without records, set `missing: skip` in `for_each`; no data was sent';
  return problem.with({ next });
}
