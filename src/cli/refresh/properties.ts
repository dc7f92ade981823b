import { reportRules } from '../../config/parse/source.ts';
import { validatePart } from '../../config/parse/validate.ts';
import { readDocument } from '../../config/text/document.ts';
import { Faults } from '../../config/text/faults.ts';
import { registerSecrets } from '../../config/text/register-secrets.ts';
import type { Part } from '../../config/text/variables.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import { type OptionSet, type OptionValues, schemaOf, withDefaults } from '../../sdk/option.ts';
import { typedValue } from './typed-value.ts';

export type Properties = Readonly<Record<string, unknown>>;

/** A data source's properties, converted to validated options for the connector's source and query. */
export interface DatasourceOptions {
  readonly source: OptionValues<OptionSet>;
  readonly query: OptionValues<OptionSet>;
}

/** Names of login properties. These names are never options. */
export const loginNames = ['oauth_user_token', 'oauth_provider_id', 'oauth_user_header', 'token_id', 'refresh_token'];

/** Matches the names of options whose value is a file path. */
const onDisk = /(?:^|_)file$|^parquet$/;
const fix = 'fix it with PUT /datasource-instances/{id}/properties';

/** Removes the `prop:` prefix from a property's name. The service's own settings have this prefix. */
export const plainName = (name: string): string => name.replace(/^prop:/, '');

/**
 * Converts properties to options. A name refers to the query option with that name if there is one, otherwise to a
 * source option. The prefixes `source.` and `query.` select one explicitly. Strings are converted to the option's type.
 * Names in `others` are ignored because other code handles them.
 * @throws Problem that lists all invalid properties in one message
 */
export function readProperties(
  connector: Connector,
  properties: Properties,
  others: readonly string[],
): DatasourceOptions {
  const sorted: Record<'source' | 'query', Record<string, unknown>> = { source: {}, query: {} };
  for (const [written, value] of Object.entries(properties)) {
    const name = plainName(written);
    if (value === null || value === '' || others.includes(name)) continue;
    const found = placeOf(connector, name);
    if (found === undefined) throw unknownProperty(connector, name, others);
    const [place, option] = found;
    refuseDisk(option, value);
    const typed = typedValue(value, connector[place][option]!.schema);
    refuseDisk(option, typed);
    sorted[place][option] = typed;
  }
  return checked(connector, sorted);
}

type OptionPlace = 'source' | 'query';

function placeOf(connector: Connector, name: string): [OptionPlace, string] | undefined {
  const [, place, exact] = /^(source|query)\.(.*)$/.exec(name) ?? [];
  if (exact !== undefined)
    return Object.hasOwn(connector[place as OptionPlace], exact) ? [place as OptionPlace, exact] : undefined;
  if (Object.hasOwn(connector.query, name)) return ['query', name];
  return Object.hasOwn(connector.source, name) ? ['source', name] : undefined;
}

function checked(connector: Connector, given: Record<OptionPlace, Record<string, unknown>>): DatasourceOptions {
  const faults = new Faults(readDocument('properties', JSON.stringify(given)));
  for (const place of ['source', 'query'] as const) {
    const part: Part = { path: `/${place}`, value: given[place], resolved: new Map(), broken: new Set() };
    registerSecrets(part, connector[place]);
    validatePart(part, { schema: schemaOf(connector[place]), noun: `data source (connector ${connector.id})`, faults });
  }
  if (faults.problems.length > 0) throw wrongProperties(faults.problems);
  const source = withDefaults(connector.source, given.source);
  const query = withDefaults(connector.query, given.query);
  reportRules(connector, { source }, { path: '/source', faults });
  reportRules(connector, { source, query }, { path: '/query', faults });
  const acting = connector.actsAfterDeliveryBy?.(query);
  // Nothing would be done, because a refresh has no watermark and no receipt.
  if (acting !== undefined)
    faults.add({ code: 'REFRESH_PROPERTY', message: `"${acting}" requires a job`, path: '/query' });
  if (faults.problems.length > 0) throw wrongProperties(faults.problems);
  return { source, query };
}

/** Users who can create data sources must not be able to read files on the service's machine. */
function refuseDisk(name: string, value: unknown): void {
  const isNested = typeof value === 'object' && value !== null;
  if (isNested) for (const [inner, one] of Object.entries(value)) refuseDisk(inner, one);
  const isSocket = name === 'host' && typeof value === 'string' && value.startsWith('/');
  const isFile = name === 'driver' && (value === 'sqlite' || value === 'duckdb');
  if (!isSocket && !isFile && !onDisk.test(name)) return;
  throw new Problem({
    code: 'REFRESH_DISK',
    family: 'config',
    message: `The "${name}" property names a file on the service's machine, which data sources cannot read`,
    next: "remove the property; to send a file's content, read the file with a job",
  });
}

function unknownProperty(connector: Connector, name: string, others: readonly string[]): Problem {
  const own = [...Object.keys(connector.query), ...Object.keys(connector.source)].filter((one) => !onDisk.test(one));
  const known = [...new Set([...own, ...others])];
  return new Problem({
    code: 'REFRESH_PROPERTY',
    family: 'config',
    message: `Unknown property "${name}" for a data source with the ${connector.id} connector`,
    allowed: known.join(', '),
    next: didYouMean(name, known) ?? fix,
  });
}

function wrongProperties(problems: readonly Problem[]): Problem {
  const [first] = problems;
  return new Problem({
    code: 'REFRESH_PROPERTY',
    family: 'config',
    message: problems.map(({ message }) => message).join('; '),
    ...(problems.length === 1 && first!.seen !== undefined ? { seen: first!.seen } : {}),
    ...(problems.length === 1 && first!.allowed !== undefined ? { allowed: first!.allowed } : {}),
    next: fix,
  });
}
