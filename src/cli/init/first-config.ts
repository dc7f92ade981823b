import { basename, extname, isAbsolute, relative, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { Dataset } from '../../sdk/dataset.ts';
import type { OpenAddressResult } from '../discover/open-address.ts';
import { type KeyInQuery, splitAtPasswords } from '../discover/source-at.ts';

/** A dataset that the user chose. */
export interface ChosenDataset {
  readonly dataset: Dataset;
  /** If set, the job reads only the rows that this cursor column marks as new, and merges them by key. */
  readonly cursor?: string;
}

/** A config's text, and the environment variables that must be set before the config is used. */
export interface FirstConfig {
  readonly text: string;
  readonly jobs: readonly string[];
  /** Values for the environment variables that replace the address's secrets. */
  readonly secrets: Readonly<Record<string, string>>;
}

interface FirstConfigOptions {
  readonly address: OpenAddressResult;
  readonly chosen: readonly ChosenDataset[];
  /** The config file's folder. */
  readonly folder: string;
  /** URL of the dashboard service. Default: the embedded service. */
  readonly destination?: string | undefined;
}

const embedded = 'http://127.0.0.1:8080/api/1.0';

const headText = (url: string): string => `# yaml-language-server: $schema=./sluice.schema.json
#
# Written by sluice init. The package's docs/config.md explains every option.

version: 1

# Where data goes. The embedded service (sluice serve) listens at ${embedded}.
destinations:
  dashboards:
    url: ${JSON.stringify(url)}
    api_key: \${env:SLUICE_API_KEY}

`;

/** Writes a config with one source, and one job for each chosen dataset. Leaves out secrets from the address. */
export function firstConfig({ address, chosen, folder, destination }: FirstConfigOptions): FirstConfig {
  const name = sourceName(address);
  const { options, secrets } = sourceOptions(address, { name, folder });
  const source = yaml({ sources: { [name]: { connector: address.connector, ...options } } });
  const jobs = jobsText(chosen, name);
  const head = headText(literal(destination ?? embedded));
  const text = `${head}# Where data comes from.\n${source}\n# What is read and sent.\n${jobs.text}`;
  return { text, jobs: jobs.names, secrets };
}

/** The config's jobs: one for each of these datasets. */
export function jobsText(chosen: readonly ChosenDataset[], source: string): { text: string; names: readonly string[] } {
  const names = uniqueNames(chosen.map(({ dataset }) => titleOf(dataset)));
  const jobs = chosen.map((one, c) => jobText(one, { name: names[c]!, source }));
  return { text: `jobs:\n${jobs.join('\n')}`, names };
}

function sourceName({ connector, options }: OpenAddressResult): string {
  if (connector === 'file') return 'files';
  if (connector === 'simple_rest') return 'api';
  const path = options.file ?? URL.parse(options.url ?? '')?.pathname ?? '';
  return nameOf(basename(path, extname(path))) || 'db';
}

/** The dataset's name without a file extension. For an API path, also removes leading slashes and the query string. */
function titleOf({ name, kind }: Dataset): string {
  if (name.startsWith('/') && kind === 'stream') return name.replaceAll(/^\/+|[?#].*$/g, '') || name;
  return kind === 'file' || kind === 'sheet' ? name.replace(/(\.\w+)+(?=#|$)/, '') : name;
}

/** Makes the name valid by replacing all characters except letters, digits, `_` and `-` with `_`. */
function nameOf(text: string): string {
  return text.replaceAll(/[^\w-]+/g, '_').replaceAll(/^[_-]+|[_-]+$/g, '');
}

function uniqueNames(texts: readonly string[]): string[] {
  const used = new Set<string>();
  return texts.map((text) => {
    const base = nameOf(text) || 'job';
    let name = base;
    for (let n = 2; used.has(name); n++) name = `${base}_${n}`;
    used.add(name);
    return name;
  });
}

function sourceOptions(
  { options }: OpenAddressResult,
  { name, folder }: { name: string; folder: string },
): Pick<FirstConfig, 'secrets'> & { options: object } {
  const prefix = name.replaceAll('-', '_').toUpperCase();
  if (options.url !== undefined) {
    const address = urlOptions(options.url, `${prefix}_PASSWORD`);
    return options.auth === undefined ? address : withKey(address, options.auth, `${prefix}_KEY`);
  }
  const { driver, parquet, file } = options;
  const [option, path] = file === undefined ? ['folder', options.folder!] : ['file', file];
  const places = parquet === undefined ? { [option]: placeIn(folder, path) } : { parquet: placesIn(folder, parquet) };
  return { options: { ...(driver === undefined ? {} : { driver }), ...places }, secrets: {} };
}

/** A path relative to the config's folder; absolute if it's outside of that folder. */
function placeIn(folder: string, path: string): string {
  const inside = relative(folder, resolve(path)) || '.';
  return literal(inside.startsWith('..') || isAbsolute(inside) ? resolve(path) : inside);
}

function placesIn(folder: string, paths: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, placeIn(folder, path)]));
}

/** Replaces passwords with variables. The variables' values keep the URL's percent-encoding. */
function urlOptions(text: string, variable: string): Pick<FirstConfig, 'secrets'> & { options: object } {
  const { texts, passwords } = splitAtPasswords(text);
  const variables = passwords.map((_, i) => (i === 0 ? variable : `${variable}_${i + 1}`));
  const url = texts.map((part, i) => literal(part) + (i < variables.length ? `\${env:${variables[i]}}` : '')).join('');
  return { options: { url }, secrets: Object.fromEntries(passwords.map((password, i) => [variables[i], password])) };
}

/** Adds a login with a key, and replaces the key with a variable. */
function withKey<T extends { options: object; secrets: object }>(address: T, auth: KeyInQuery, variable: string) {
  const login = { ...auth, name: literal(auth.name), value: `\${env:${variable}}` };
  return {
    options: { ...address.options, auth: login },
    secrets: { ...address.secrets, [variable]: auth.value },
  };
}

function jobText({ dataset, cursor }: ChosenDataset, { name, source }: { name: string; source: string }): string {
  const { key, cursors = [], query } = dataset;
  const only = cursor === undefined || key === undefined ? {} : { cursor };
  const job = {
    source,
    query: literalDeep({ ...query, ...only }),
    ...(cursor === undefined || key === undefined ? {} : { write: literalDeep({ disposition: 'merge', key }) }),
    target: { datasource: { name: literal(titleOf(dataset)), format: 'csv' } },
    schedule: '*/15 * * * *',
  };
  const hint = cursor === undefined && key !== undefined && cursors.length > 0 ? hintText(key, cursors[0]!) : '';
  return `${hint}${indented(yaml({ [name]: job }))}`;
}

/** Reading all rows is correct for every table, so incremental reading is only a suggestion. */
function hintText(key: readonly string[], cursor: string): string {
  const rule = stringify({ disposition: 'merge', key }, { collectionStyle: 'flow' }).trim();
  return `  # To read only changed rows (rows deleted at the source then stay), set query.cursor: ${JSON.stringify(cursor)}, and write: ${rule}\n`;
}

function yaml(value: object): string {
  return stringify(value, { lineWidth: 0 });
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

/** In a name or query, `${` is literal text, not the start of a variable. */
function literal(text: string): string {
  return text.replaceAll('${', '$$${');
}

function literalDeep(value: unknown): unknown {
  if (typeof value === 'string') return literal(value);
  if (Array.isArray(value)) return value.map(literalDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literalDeep(inner)]));
}
