import { dirname, resolve } from 'node:path';
import type { Format } from '../formats/format.ts';
import { formats as ownFormats } from '../formats/index.ts';
import { Problem } from '../lib/problem.ts';
import type { Environment } from '../lib/run-program.ts';
import { transforms as ownTransforms } from '../transforms/index.ts';
import type { Transform } from '../transforms/transform.ts';
import { type Catalog, openCatalog, type Places } from './catalog/catalog.ts';
import type { Config, Destination, Job, Source } from './config.ts';
import type { JobResult, LoadContext, LoadResult } from './parse/context.ts';
import { loadDestination } from './parse/destination.ts';
import { loadJob } from './parse/job.ts';
import { refuseJobReferences, warnOfLeftOut } from './parse/job-references.ts';
import { joinLogins } from './parse/join-logins.ts';
import { warnUnsharedAccounts } from './parse/lonely-accounts.ts';
import type { Member } from './parse/member.ts';
import { refuseSharedInputs } from './parse/shared-inputs.ts';
import { refuseSharedTargets } from './parse/shared-targets.ts';
import { loadSource } from './parse/source.ts';
import { readTop } from './parse/top.ts';
import { type Document, readDocument } from './text/document.ts';
import { Faults, unreadCode } from './text/faults.ts';
import { readText } from './text/read-text.ts';
import type { Part } from './text/variables.ts';

export interface LoadOptions {
  /** The environment that `${env:…}` variables are read from. Default: the process's environment. */
  readonly env?: Environment;
  readonly formats?: readonly Format[];
  readonly transforms?: readonly Transform[];
  /** Finds the available connectors, including those in the config's own folder and packages. */
  readonly catalog?: (places: Places) => Promise<Catalog>;
  /** Also imports the user's connectors that the config doesn't use, to report broken ones. */
  readonly everyConnector?: boolean;
  /** Cancels loading, and stops commands that variables are still running. */
  readonly signal?: AbortSignal;
  /**
   * Checks everything except the values of variables that can't be resolved here: secrets, commands, unset variables.
   */
  readonly withoutSecrets?: boolean;
}

export interface Loaded {
  /**
   * The config without its faulty parts. Absent if the whole file is unusable: it's unreadable, isn't YAML, or has an
   * error at the top level.
   */
  readonly config?: Config;
  /** All errors, sorted by line. If there are none, `config` contains the whole file. */
  readonly problems: readonly Problem[];
  /** Warnings. They don't exclude any part of the config. */
  readonly warnings: readonly Problem[];
  /**
   * Jobs in the file that are excluded from `config`, each with the reasons: its own errors and those of its source and
   * destination.
   */
  readonly refused: ReadonlyMap<string, readonly Problem[]>;
  /** The parsed parts; absent if the whole file is unusable. */
  readonly made?: Making;
}

/**
 * A config document with the locations of its values, and the document's parts with their variables resolved: first the
 * top level, then every entry of its maps.
 */
export interface Making {
  readonly document: Document;
  readonly parts: readonly Part[];
}

/**
 * Loads and validates a config file: YAML, variables, secrets, names, and all rules that can be checked without network
 * access. Finds all errors at once: a broken job doesn't hide errors in other jobs. Never throws because of the file's
 * contents.
 */
export async function loadConfig(file: string, options: LoadOptions = {}): Promise<Loaded> {
  const text = await readText(file);
  if (text instanceof Problem) return { problems: [text], warnings: [], refused: new Map() };
  const document = readDocument(file, text);
  if (document.value === undefined) return { problems: document.problems, warnings: [], refused: new Map() };
  return loadDocument(document, options);
}

async function loadDocument(document: Document, options: LoadOptions): Promise<Loaded> {
  const env = options.env ?? process.env;
  const folder = dirname(resolve(document.file));
  const faults = new Faults(document);
  const top = await readTop(document, {
    env,
    folder,
    faults,
    signal: options.signal,
    withoutSecrets: options.withoutSecrets,
  });
  await using _ = { [Symbol.asyncDispose]: () => top.secrets.close() };
  const isUsable = document.problems.length === 0 && faults.problems.length === 0;
  const catalog = await (options.catalog ?? openCatalog)(top.places);
  if (options.everyConnector) await loadForeign(catalog);
  const formats = options.formats ?? ownFormats;
  const transforms = options.transforms ?? ownTransforms;
  const parts: Part[] = [top.part];
  const context: LoadContext = { document, top, env, parts, catalog, formats, transforms };

  const destinations = await loadAll('destinations', (member) => loadDestination(member, context));
  const sources = await loadAll('sources', (member) => loadSource(member, context));
  const logins = joinLogins(sources.results, document);
  const known = { destinations: destinations.results, sources: logins.results };
  const jobs = await loadAll('jobs', (member) => loadJob(member, { ...context, ...known }));
  const shared = refuseSharedTargets(jobs.results, document);
  const inputs = refuseSharedInputs(jobs.results, document, folder);
  const references = refuseJobReferences(jobs.results, document);

  const problems = [...document.problems, ...catalog.problems, ...faults.problems];
  problems.push(...destinations.problems, ...sources.problems, ...logins.problems, ...jobs.problems);
  problems.push(...[shared, inputs, references].flatMap((found) => [...found.values()].flat()));
  const unread = isUsable ? problems.filter(({ code }) => code === unreadCode) : [];
  const warnings = [...unread, ...[faults, destinations, sources, jobs].flatMap((part) => part.warnings)];
  warnings.push(...warnUnsharedAccounts(destinations.results, document));
  const refused = refusedJobs(jobs.results, [shared, inputs, references]);
  warnings.push(...warnOfLeftOut(jobs.results, refused, document));
  const config: Config = {
    file: resolve(document.file),
    folder,
    state: top.state,
    ...(top.stateDatabase === undefined ? {} : { stateDatabase: top.stateDatabase }),
    sealKeys: top.sealKeys,
    timezone: top.timezone,
    monitor: top.monitor,
    keep: top.keep,
    disk: top.disk,
    concurrency: top.concurrency,
    onStartError: top.onStartError,
    alerts: top.alerts,
    destinations: good<Destination>(destinations.results),
    sources: good<Source>(logins.results),
    jobs: good<Job>(jobs.results, refused),
    leftOut: refused,
    readByLeftOut: new Set([...refused.keys()].flatMap((name) => readsOf(jobs.results.get(name)))),
  };
  const usable = isUsable ? { config, made: { document, parts } } : {};
  return {
    ...usable,
    problems: byLine(unique(problems.filter((one) => !unread.includes(one)))),
    warnings: byLine(unique(warnings)),
    refused,
  };

  /** Loads every entry of a map and collects each entry's errors. */
  async function loadAll<O>(map: Member['map'], load: (member: Member) => Promise<O>): Promise<Group<O>> {
    const results = new Map<string, O>();
    const own: Faults[] = [];
    for (const [name, value] of top[map]) {
      const faults = new Faults(document, { [map.slice(0, -1)]: name });
      own.push(faults);
      results.set(name, await load({ map, name, value, faults }));
    }
    return { results, problems: own.flatMap((made) => made.problems), warnings: own.flatMap((made) => made.warnings) };
  }
}

/**
 * Doesn't import built-in connectors. They're tested before release, and loading them would take half of a check's
 * time.
 */
async function loadForeign(catalog: Catalog): Promise<void> {
  const ids = catalog.ids.filter((id) => catalog.origin(id) !== 'sluice');
  await Promise.all(ids.map((id) => catalog.load(id)));
}

interface Group<O> {
  readonly results: ReadonlyMap<string, O>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

function good<T>(
  results: ReadonlyMap<string, LoadResult<T>>,
  without: ReadonlyMap<string, unknown> = new Map(),
): Map<string, T> {
  const entries = [...results].flatMap(([name, { value }]): [string, T][] =>
    value === undefined || without.has(name) ? [] : [[name, value]],
  );
  return new Map(entries);
}

const readsOf = (result: JobResult | undefined): string[] => (result?.reads ?? []).map(({ job }) => job);

function refusedJobs(
  jobs: ReadonlyMap<string, LoadResult<Job>>,
  others: readonly ReadonlyMap<string, readonly Problem[]>[],
): Map<string, readonly Problem[]> {
  const refused = new Map<string, readonly Problem[]>();
  for (const [name, { problems }] of jobs) {
    const all = [...problems, ...others.flatMap((other) => other.get(name) ?? [])];
    if (all.length > 0) refused.set(name, all);
  }
  return refused;
}

function unique(problems: readonly Problem[]): Problem[] {
  return [...new Set(problems)];
}

function byLine(problems: readonly Problem[]): Problem[] {
  return [...problems].sort(
    (a, b) => (a.where.line ?? 0) - (b.where.line ?? 0) || (a.where.character ?? 0) - (b.where.character ?? 0),
  );
}
