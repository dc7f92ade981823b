import { isMap } from '../../lib/is-map.ts';
import { didYouMean } from '../../lib/nearest.ts';
import type { Connector } from '../../sdk/connector.ts';
import { type OptionSet, type OptionValues, schemaOf, withDefaults } from '../../sdk/option.ts';
import type { Extract, Source, Target, TransformStep } from '../config.ts';
import { readWhole } from '../options/field.ts';
import { stallOptions } from '../options/job.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import { type Part, partAt } from '../text/variables.ts';
import type { Draft, JobContext, SourceResult } from './context.ts';
import { findNamed } from './find-named.ts';
import { loadFormat } from './format.ts';
import { reportRules } from './source.ts';
import { validatePart } from './validate.ts';
import { loadWrite } from './write.ts';

/** Parses a job's source, query, transforms and format. Returns undefined if any of them has an error. */
export function loadExtract(draft: Draft, target: Target | undefined, context: JobContext): Extract | undefined {
  const source = findSource(draft, context);
  const query = source?.connector === undefined ? undefined : loadQuery(draft, source.connector, source.value);
  const transforms = loadTransforms(draft, context);
  const format = loadFormat(draft, target, context.formats);
  const write = loadWrite(draft.part, draft.faults);
  if (write?.deletes !== undefined && query !== undefined) refuseCompare(draft, source!.connector!, query);
  if (source?.value === undefined || query === undefined || format === undefined) return undefined;
  return {
    source: source.value,
    query,
    transforms,
    format: format.format,
    formatOptions: format.options,
    ...readWhole(stallOptions, draft.part, draft.faults)!,
    write,
  };
}

/** Refuses to compare keys if the query can't list them. */
function refuseCompare({ part, faults }: Draft, connector: Connector, query: OptionValues<OptionSet>): void {
  if (connector.readsKeys?.(query) === true) return;
  faults.add({
    code: 'CONFIG_WRITE',
    message: '"deletes" requires a query that reads only new rows and can list the keys of all rows',
    path: partAt(partAt(part, 'write'), 'deletes').path,
    on: 'key',
    next: 'set a cursor in the query of a database, or remove "deletes"',
  });
}

function findSource(draft: Draft, { sources }: JobContext): SourceResult | undefined {
  const name = draft.given.source;
  if (typeof name === 'string') return findNamed({ name, option: 'source', all: sources }, draft);
  if (name === undefined) {
    draft.faults.add({
      code: 'CONFIG_MISSING_OPTION',
      message: 'Missing "source": this job has no source',
      path: draft.part.path,
      on: 'key',
      allowed: [...sources.keys()].join(', ') || 'none: the config has no sources',
      next: 'add a line: source: NAME',
    });
  }
  return undefined;
}

function loadQuery(
  { part, given, faults, reads }: Draft,
  connector: Connector,
  source: Source | undefined,
): OptionValues<OptionSet> | undefined {
  const before = faults.problems.length;
  const at = partAt(part, 'query');
  const required = Object.keys(connector.query).filter((name) => connector.query[name]!.required);
  if (at.value === undefined && required.length > 0) {
    const main = connector.query[connector.shorthand ?? required[0]!]!;
    faults.add({
      code: 'CONFIG_MISSING_OPTION',
      message: 'Missing "query": this job does not specify what to read',
      path: part.path,
      on: 'key',
      allowed: connector.shorthand === undefined ? Object.keys(connector.query).join(', ') : main.about,
      next: `add a line: query: ${connector.shorthand === undefined ? `{${required[0]}: …}` : String(main.example ?? '…')}`,
    });
    return undefined;
  }
  const query =
    typeof at.value === 'string' ? fromShorthand(at, { connector, faults }) : { ...at, value: at.value ?? {} };
  if (query === undefined || !isMap(query.value)) return undefined;
  registerSecrets(query, connector.query);
  const elsewhere = { options: Object.keys(connector.source), place: 'the source' };
  const noun = `query (connector ${connector.id})`;
  validatePart(query, { schema: schemaOf(connector.query), noun, faults, elsewhere });
  if (faults.problems.length > before) return undefined;
  const values = withDefaults(connector.query, query.value as Record<string, unknown>);
  reads.push(...(connector.readsJobs?.(values) ?? []));
  if (source !== undefined)
    reportRules(connector, { source: source.options, query: values }, { path: at.path, faults });
  if (faults.problems.length === before && !keepsRows(given.write)) {
    refuseAction(query, { connector, values, faults });
    tellOfNewOnly(query, { connector, values, faults });
  }
  return values;
}

/** Whether the job keeps rows from earlier runs. */
function keepsRows(write: unknown): boolean {
  const disposition = isMap(write) ? write.disposition : write;
  return disposition === 'append' || disposition === 'merge';
}

/**
 * Refuses a job that changes its source after a delivery, such as by deleting files, but doesn't keep its rows. Each
 * payload replaces the payload before it, even one that was never sent, so nothing would have the rows any more.
 */
function refuseAction(query: Part, { connector, values, faults }: NewOnly): void {
  const option = connector.actsAfterDeliveryBy?.(values);
  if (option === undefined) return;
  faults.add({
    code: 'CONFIG_AFTER_DELIVERY',
    message: `"${option}" requires a job that keeps its rows, because a run replaces earlier rows that can't be read again`,
    path: partAt(query, option).path,
    on: 'key',
    allowed: 'write: append, or write: {disposition: merge, key: […]}',
    next: `add \`write\` to the job, or remove "${option}"`,
  });
}

/**
 * Warns if a job reads only new rows and doesn't keep earlier rows. The job's payload replaces all data in the target,
 * so the target would show only the new rows, which is rarely intended.
 */
function tellOfNewOnly(query: Part, { connector, values, faults }: NewOnly): void {
  const option = connector.givesOnlyNewBy?.(values);
  if (option === undefined) return;
  faults.warn({
    code: 'CONFIG_ONLY_NEW',
    message: `With "${option}", a run reads only rows that are new since the last run, but replaces everything that the instance shows`,
    path: partAt(query, option).path,
    on: 'key',
    next: `to show all rows on the dashboard, ${keepingRows(connector.rowKey?.(values))}remove "${option}"`,
  });
}

/**
 * Suggests how to make the job keep its rows. Takes the key from the query if possible, because every run would fail
 * with a wrong key.
 */
function keepingRows(key: readonly string[] | undefined): string {
  if (key === undefined)
    return 'keep the rows with write: {disposition: merge, key: […]} and the columns that identify a row, or with write: append if rows never repeat; or ';
  return key.length === 0 ? '' : `keep the rows with write: {disposition: merge, key: [${key.join(', ')}]}; or `;
}

interface NewOnly {
  readonly connector: Connector;
  readonly values: OptionValues<OptionSet>;
  readonly faults: Faults;
}

function fromShorthand(at: Part, { connector, faults }: { connector: Connector; faults: Faults }): Part | undefined {
  const name = connector.shorthand;
  if (name === undefined)
    return faults.add({
      code: 'CONFIG_WRONG_VALUE',
      message: `The "${connector.id}" connector does not accept a plain text query`,
      path: at.path,
      seen: JSON.stringify(at.value),
      allowed: `a map of ${Object.keys(connector.query).join(', ')}`,
    });
  const inner = partAt(at, name).path;
  const variable = at.resolved.get(at.path);
  return {
    ...at,
    value: { [name]: at.value },
    resolved: variable === undefined ? at.resolved : new Map([...at.resolved, [inner, variable]]),
    broken: at.broken.has(at.path) ? new Set([...at.broken, inner]) : at.broken,
  };
}

function loadTransforms({ part, given, faults }: Draft, context: JobContext): TransformStep[] {
  const list = given.transforms;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, i) => {
    const entries = isMap(item) ? Object.keys(item) : [];
    const step =
      entries.length === 1 ? loadTransform(partAt(part, 'transforms', i), entries[0]!, { faults, context }) : undefined;
    return step === undefined ? [] : [step];
  });
}

function loadTransform(
  at: Part,
  id: string,
  { faults, context }: { faults: Faults; context: JobContext },
): TransformStep | undefined {
  const transform = context.transforms.find((known) => known.id === id);
  const given = partAt(at, id);
  if (transform === undefined) {
    const known = context.transforms.map((one) => one.id);
    return faults.add({
      code: 'CONFIG_UNKNOWN_TRANSFORM',
      message: `Unknown transform "${id}"`,
      path: given.path,
      on: 'key',
      allowed: known.join(', '),
      next: didYouMean(id, known),
    });
  }
  const before = faults.problems.length;
  validatePart(given, { schema: transform.schema, noun: `transform (${id})`, faults });
  if (faults.problems.length > before || given.broken.size > 0) return undefined;
  for (const message of transform.check?.(given.value) ?? []) {
    faults.add({ code: 'CONFIG_TRANSFORM', message, path: given.path });
  }
  return { transform, given: given.value };
}
