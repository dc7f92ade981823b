import { isMap } from '../../lib/is-map.ts';
import { missingModule } from '../../lib/missing-module.ts';
import { didYouMean, nearest } from '../../lib/nearest.ts';
import type { Connector } from '../../sdk/connector.ts';
import { type OptionSet, type OptionValues, schemaOf, withDefaults } from '../../sdk/option.ts';
import { readOptions } from '../options/field.ts';
import { optionsOfSource } from '../options/login.ts';
import { checkOptions } from '../options/source.ts';
import { below } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import type { LoadContext, SourceResult } from './context.ts';
import { loadLogin } from './login.ts';
import { type Member, memberPath, openMember } from './member.ts';
import { renewalOf } from './renew-secrets.ts';
import { validatePart } from './validate.ts';

export async function loadSource(member: Member, context: LoadContext): Promise<SourceResult> {
  const { name, faults } = member;
  const path = memberPath(member);
  const part = await openMember(member, context);
  const connector = await findConnector(part.value, { path, faults, context });
  if (connector === undefined) return { problems: faults.problems };
  if (connector.retired !== undefined) return refuseRetired(connector, { path, faults });

  const options = optionsOfSource(connector);
  registerSecrets(part, options);
  const elsewhere = { options: Object.keys(connector.query), place: 'the query of a job' };
  validatePart(part, { schema: schemaOf(options), noun: `source (connector ${connector.id})`, faults, elsewhere });
  if (faults.problems.length > 0) return { problems: faults.problems, connector };

  const values: OptionValues<OptionSet> = withDefaults(connector.source, part.value as Record<string, unknown>);
  reportRules(connector, { source: values }, { path, faults });
  const login = loadLogin({ source: name, connector, options: values, part, faults });
  const { problems } = faults;
  if (problems.length > 0) return { problems, connector };
  const value = {
    ...{ name, connector, options: values, login },
    ...readOptions(checkOptions, part, faults),
    ...renewalOf(part, { member, context, connector }),
  };
  return { value, connector, problems };
}

/** A source whose connector was discontinued. Its options and queries aren't checked. */
function refuseRetired(connector: Connector, { path, faults }: { path: string; faults: Faults }): SourceResult {
  faults.add({
    code: 'CONFIG_RETIRED',
    message: `${connector.title} is discontinued. ${connector.retired}`,
    path: below(path, 'connector'),
    next: 'remove the source and its jobs from the config; its instances keep their current data',
  });
  return { problems: faults.problems };
}

async function findConnector(
  value: unknown,
  { path, faults, context }: { path: string; faults: Faults; context: LoadContext },
): Promise<Connector | undefined> {
  const known = context.catalog.ids;
  const allowed = known.join(', ');
  if (!isMap(value))
    return faults.add({
      code: 'CONFIG_WRONG_VALUE',
      message: 'A source must be a map of options',
      path,
      allowed: 'connector: NAME, with its options next to it',
    });
  const id = value.connector;
  if (id === undefined || id === null || typeof id !== 'string') {
    const what = id === undefined ? 'Missing "connector" in this source' : 'The connector must be a name';
    faults.add({
      code: 'CONFIG_MISSING_OPTION',
      message: what,
      path,
      on: 'key',
      allowed,
      next: 'add a line: connector: NAME',
    });
    return undefined;
  }
  const connector = await context.catalog.load(id);
  if (connector !== undefined) return connector;
  faults.add({
    code: 'CONFIG_UNKNOWN_CONNECTOR',
    path: below(path, 'connector'),
    ...((await asDriver(id, context)) ?? unusable(id, known)),
  });
  return undefined;
}

/** Common names of databases that differ from their driver's name. */
const driverAliases: ReadonlyMap<string, string> = new Map([
  ['postgresql', 'postgres'],
  ['pg', 'postgres'],
  ['mssql', 'sqlserver'],
  ['sqlite3', 'sqlite'],
]);

/** The `db` connector reads databases, but users often write the driver's name instead. */
async function asDriver(
  id: string,
  { catalog }: LoadContext,
): Promise<{ message: string; allowed: string; next: string } | undefined> {
  if (catalog.ids.includes(id)) return undefined;
  const drivers = (await catalog.load('db'))?.source.driver?.schema.enum as readonly string[] | undefined;
  const driver = driverAliases.get(id) ?? nearest(id, drivers ?? []);
  if (driver === undefined) return undefined;
  const next = `write connector: db, and below it driver: ${driver}`;
  return { message: `Unknown connector "${id}"`, allowed: catalog.ids.join(', '), next };
}

/** The reason why a connector can't be loaded: it's broken or unknown. */
function unusable(id: string, known: readonly string[]): { message: string; allowed?: string; next?: string } {
  if (known.includes(id)) {
    return { message: `The "${id}" connector cannot be used; see the connector's own error` };
  }
  return { message: `Unknown connector "${id}"`, allowed: known.join(', '), next: didYouMean(id, known) };
}

type Given = Parameters<NonNullable<Connector['validate']>>[0];

/**
 * Reports the errors that the connector's own rules find, each at its option. Reports errors in the source's options
 * once for the source, not for every job that reads it. A rule that throws is a bug in the connector.
 */
export function reportRules(
  connector: Connector,
  given: Given,
  { path, faults }: { path: string; faults: Faults },
): void {
  const own = given.query === undefined ? connector.source : connector.query;
  try {
    for (const { option, message } of connector.validate?.(given) ?? []) {
      if (!Object.hasOwn(own, option)) continue;
      // A rule's message like "is empty; write …" continues a sentence that starts with the option's name.
      const sentence = /^[a-z]/.test(message) ? `"${option}" ${message}` : message;
      faults.add({ code: 'CONFIG_RULE', message: sentence, path: below(path, option) });
    }
  } catch (thrown) {
    if (missingModule(thrown) !== undefined) throw thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `The "${connector.id}" connector failed while checking its options: ${reason}`;
    faults.add({ code: 'CONFIG_RULE', message, path, cause: thrown });
  }
}
