import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Errors } from 'typebox/schema';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { initConfig } from '../../src/cli/config/init-config.ts';
import { loadCatalog, openCatalog } from '../../src/config/catalog/catalog.ts';
import { connectorPage } from '../../src/config/docs/connector-page.ts';
import { configSchema, type Declarations } from '../../src/config/docs/json-schema.ts';
import { configReference } from '../../src/config/docs/reference.ts';
import { wholeExample } from '../../src/config/docs/whole-example.ts';
import { loadConfig } from '../../src/config/load.ts';
import { destinationOptions } from '../../src/config/options/destination.ts';
import { jobOptions } from '../../src/config/options/job.ts';
import { datasourceOptions, targetOptions } from '../../src/config/options/target.ts';
import { topOptions } from '../../src/config/options/top.ts';
import { formats } from '../../src/formats/index.ts';
import { transforms } from '../../src/transforms/index.ts';
import { folderWith } from './fixtures.ts';

const root = resolve(import.meta.dirname, '../..');
const env = {
  SLUICE_API_KEY: 'k'.repeat(40),
  DATABASE_URL: 'postgres://reader:s3cret@db.example.com/shop',
  WAREHOUSE_PASSWORD: 'w4rehouse',
  SNOWFLAKE_PASSPHRASE: 'a passphrase',
  API_TOKEN: 'tokentoken',
  FTP_PASSWORD: 'ftp-s3cret',
  S3_SECRET: 'bucket-s3cret',
  KEY_PASSPHRASE: 'k3y-phrase',
  SLUICE_KEY: 'k'.repeat(32),
  SLUICE_FORMER_KEY: 'f'.repeat(32),
};
let declarations: Declarations;
let example: string;

beforeAll(async () => {
  const { connectors } = await loadCatalog();
  declarations = { connectors: [...connectors.values()], formats, transforms };
  example = await readFile(join(root, 'config/example.yaml'), 'utf8');
});

/** The example with every setting enabled that is commented out with a single mark. */
function switchedOn(text: string): string {
  return text
    .split('\n')
    .map((line) => (/^\s*# (?!yaml-language-server)/.test(line) ? line.replace('# ', '') : line))
    .join('\n');
}

async function problemsOf(text: string) {
  const folder = await folderWith({ 'sluice.yaml': text, 'password.txt': 'p4ssword\n' });
  await mkdir(join(folder, 'my-connectors'));
  const { problems, warnings } = await loadConfig(join(folder, 'sluice.yaml'), {
    env,
    catalog: () => openCatalog(),
  });
  // The example shows how to read incrementally, which causes a warning wherever it's used.
  const told = warnings.filter(({ code }) => code !== 'CONFIG_ONLY_NEW');
  return [...problems, ...told].map(({ message, where }) => `${where.line}: ${message}`);
}

type Map_ = Record<string, unknown>;
const values = (map: unknown): Map_[] => Object.values(map as Record<string, Map_>);
const keysOf = (maps: unknown[]): string[] => maps.flatMap((map) => Object.keys((map ?? {}) as object));

describe('the sample config', () => {
  it('loads without errors as it is, and with everything enabled', async () => {
    expect(await problemsOf(example)).toEqual([]);
    expect(await problemsOf(switchedOn(example))).toEqual([]);
  });

  it('shows every option of the config and of the connectors that its examples use', () => {
    const all = parse(switchedOn(example)) as Record<string, unknown>;
    const jobs = values(all.jobs);
    const sources = all.sources as Record<string, Map_>;
    const targets = jobs.map(({ target }) => target).filter((target) => typeof target === 'object') as Map_[];
    const shown: Record<string, string[]> = {
      top: Object.keys(all),
      destination: keysOf(values(all.destinations)),
      job: keysOf(jobs),
      target: keysOf(targets),
      datasource: keysOf(targets.map(({ datasource }) => datasource)),
      transform: jobs.flatMap(({ transforms: steps }) => keysOf((steps ?? []) as unknown[])),
    };
    const wanted: Record<string, string[]> = {
      top: Object.keys(topOptions),
      destination: Object.keys(destinationOptions),
      job: Object.keys(jobOptions),
      target: Object.keys(targetOptions),
      datasource: Object.keys(datasourceOptions),
      transform: transforms.map(({ id }) => id),
    };
    // The example shows only options that apply to everyone; the others have their own pages.
    for (const id of ['db', 'file', 'ftp', 'simple_rest']) {
      const { source, query } = declarations.connectors.find((connector) => connector.id === id)!;
      const own = Object.keys(sources).filter((name) => sources[name]!.connector === id);
      shown[`source ${id}`] = keysOf(own.map((name) => sources[name]));
      wanted[`source ${id}`] = Object.keys(source);
      shown[`query ${id}`] = keysOf(jobs.filter((job) => own.includes(String(job.source))).map((job) => job.query));
      wanted[`query ${id}`] = Object.keys(query);
    }
    for (const { id, options } of formats) {
      shown[`format ${id}`] = keysOf(jobs.map(({ format }) => format).filter((one) => (one as Map_)?.type === id));
      wanted[`format ${id}`] = Object.keys(options);
    }
    const missing = Object.keys(wanted).flatMap((part) =>
      wanted[part]!.filter((name) => !shown[part]!.includes(name)).map((name) => `${part}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('an unquoted null', () => {
  const config = (word: string) => `version: 1
destinations: {main: {url: http://127.0.0.1:9/api/1.0, api_key: abcdefabcdef}}
sources: {shop: {connector: db, driver: mysql, host: db.example.com, user: reader, database: shop, zero_dates: ${word}}}
jobs:
  orders:
    source: shop
    query: select paid_on from orders
    transforms: [cast: {paid_on: {type: date, on_error: ${word}}}]
    format: csv
    target: ${'ab'.repeat(16)}
`;

  it('means the string "null" if that\'s an allowed value, both for check and in editors', async () => {
    const schema = configSchema(declarations);
    for (const word of ['null', "'null'"]) {
      const folder = await folderWith({ 'sluice.yaml': config(word) });
      const { config: loaded, problems } = await loadConfig(join(folder, 'sluice.yaml'), { env });
      expect(problems).toEqual([]);
      const { source, transforms: steps } = loaded!.jobs.get('orders')!.extract!;
      expect(source.options.zero_dates).toBe('null');
      expect(steps[0]!.given).toEqual({ paid_on: { type: 'date', on_error: 'null' } });
      expect(Errors(schema, parse(config(word)))[1]).toEqual([]);
    }
  });

  it("is rejected if it isn't an allowed value", async () => {
    const folder = await folderWith({ 'sluice.yaml': config('null').replace('format: csv', 'format: null') });
    const { problems } = await loadConfig(join(folder, 'sluice.yaml'), { env });
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_WRONG_VALUE']);
  });
});

describe("a connector's example", () => {
  it('loads without changes when pasted into a config with a destination', async () => {
    const shown = declarations.connectors.flatMap((connector) => wholeExample(connector) ?? []);
    expect(shown.length).toBeGreaterThan(15);
    for (const text of shown) {
      const names = [...text.matchAll(/\$\{env:(\w+)/g)].map((match) => match[1]!);
      const given = Object.fromEntries(
        names.map((name) => [name, name.endsWith('URL') ? env.DATABASE_URL : 'x1234567']),
      );
      const folder = await folderWith({
        'sluice.yaml': `destinations: { main: { url: "https://app.example.com/api/1.0", api_key: abcdefabcdef } }\n${text}`,
      });
      const { config, problems, warnings } = await loadConfig(join(folder, 'sluice.yaml'), { env: given });
      expect([...problems, ...warnings].map(({ message }) => `${message}\n${text}`)).toEqual([]);
      expect(config!.jobs.size).toBeGreaterThan(0);
    }
  });
});

describe("a database's name in place of a connector", () => {
  it('is reported with the connector and the driver to use instead', async () => {
    for (const [written, driver] of [
      ['postgres', 'postgres'],
      ['postgresql', 'postgres'],
      ['mariadb', 'mariadb'],
      ['mssql', 'sqlserver'],
      ['pg', 'postgres'],
    ]) {
      const folder = await folderWith({
        'sluice.yaml': `destinations: { main: { url: "https://app.example.com/api/1.0", api_key: abcdefabcdef } }\nsources: { s: { connector: ${written} } }\njobs: {}\n`,
      });
      const { problems } = await loadConfig(join(folder, 'sluice.yaml'), { env });
      expect(problems.map(({ next }) => next)).toEqual([`write connector: db, and below it driver: ${driver}`]);
    }
  });
});

describe('the editor schema', () => {
  it('accepts the starter config, and the sample both as it is and with everything enabled', async () => {
    const schema = configSchema(declarations);
    const starter = await readFile(join(root, 'config/starter.yaml'), 'utf8');
    for (const text of [example, switchedOn(example), starter]) expect(Errors(schema, parse(text))[1]).toEqual([]);
  });

  it('accepts a variable in place of any number, boolean or enum value', () => {
    const text = `
destinations: {d: {url: "\${env:U}", api_key: "\${env:K}", requests_per_day: "\${env:N}"}}
sources: {s: {connector: db, driver: "\${env:D}", port: "\${env:P}", connect_timeout_seconds: "\${env:T}"}}
jobs: {j: {source: s, query: x, format: {type: csv, header: "\${env:H}", delimiter: "\${env:X}"}, target: x, enabled: "\${env:E}"}}`;
    expect(Errors(configSchema(declarations), parse(text))[1]).toEqual([]);
  });

  it('rejects what check rejects: unknown options, invalid enum values, numbers out of range', () => {
    const faultsOf = (text: string) =>
      Errors(configSchema(declarations), parse(text))[1].map((error) => error.instancePath);
    const base = 'destinations: {d: {url: x, api_key: k}}\n';
    expect(faultsOf(`${base}jobs: {j: {target: x, shedule: x}}`)).toContain('/jobs/j/shedule');
    expect(faultsOf(`${base}jobs: {j: {target: x, enabled: maybe}}`)).toContain('/jobs/j/enabled');
    expect(faultsOf(`${base}jobs: {j: {target: x, transforms: [{selct: [a]}]}}`)).toContain(
      '/jobs/j/transforms/0/selct',
    );
    expect(faultsOf(`${base}jobs: {}\nsources: {s: {connector: db, hots: x}}`)).toContain('/sources/s');
    expect(faultsOf('destinations: {d: {url: x, requests_per_second: 9}}\njobs: {}')).toContain(
      '/destinations/d/requests_per_second',
    );
    expect(faultsOf(`${base}jobs: {}\nsources: {s: {connector: my_own, anything: 1}}`)).toEqual([]);
  });
});

describe('the reference page', () => {
  it('links to every connector, whose page has a row for every option', () => {
    const page = configReference(declarations);
    for (const connector of declarations.connectors) {
      expect(page).toContain(`](connectors/${connector.id}.md)`);
      const own = connectorPage(connector, '## From the notes');
      const names = [...Object.keys(connector.source), ...Object.keys(connector.query)];
      for (const name of names) expect(own).toContain(`| \`${name}\` |`);
      expect(own).toContain('## From the notes');
    }
  });

  it('has a heading for every format and transform', () => {
    const page = configReference(declarations);
    for (const { id } of [...formats, ...transforms]) expect(page).toContain(`### ${id}\n`);
  });
});

describe('init', () => {
  it('writes a config that loads without errors, and the schema and sample file that the config uses', async () => {
    const folder = await folderWith({});
    const written = await initConfig({ path: join(folder, 'new/sluice.yaml') });
    const { config, problems, warnings } = await loadConfig(written.config, { env });
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    const text = await readFile(written.config, 'utf8');
    expect(text).toContain('$schema=./sluice.schema.json');
    expect(JSON.parse(await readFile(written.schema, 'utf8'))).toHaveProperty('properties.jobs');
    expect(config!.jobs.get('orders')!.extract!.query.path).toBe('sluice-sample.csv');
    expect((await readdir(join(folder, 'new'))).sort()).toEqual([
      'sluice-sample.csv',
      'sluice.schema.json',
      'sluice.yaml',
    ]);
  });

  it('keeps an existing config by default', async () => {
    const folder = await folderWith({ 'sluice.yaml': 'mine' });
    const path = join(folder, 'sluice.yaml');
    await expect(initConfig({ path })).rejects.toMatchObject({ code: 'INIT_EXISTS', family: 'config' });
    expect(await readFile(path, 'utf8')).toBe('mine');
    expect(await readdir(folder)).toEqual(['sluice.yaml']);
    await initConfig({ path, force: true });
    expect(await readFile(path, 'utf8')).toContain('version: 1');
  });

  it("keeps an existing file that has the sample's name but other rows", async () => {
    const folder = await folderWith({ 'sluice-sample.csv': 'mine\n' });
    const written = await initConfig({ path: join(folder, 'sluice.yaml') });
    expect(await readFile(join(folder, 'sluice-sample.csv'), 'utf8')).toBe('mine\n');
    expect(written.sample).toBe(join(folder, 'sluice-sample-2.csv'));
    const { config, problems } = await loadConfig(written.config, { env });
    expect(problems).toEqual([]);
    expect(config!.jobs.get('orders')!.extract!.query.path).toBe('sluice-sample-2.csv');
    expect((await initConfig({ path: join(folder, 'other.yaml') })).sample).toBe(written.sample);
  });

  it("fails with its own error message if it can't write a file", async () => {
    const folder = await folderWith({ file: '' });
    await expect(initConfig({ path: join(folder, 'file/sluice.yaml') })).rejects.toMatchObject({
      code: 'INIT_UNWRITABLE',
    });
  });
});
