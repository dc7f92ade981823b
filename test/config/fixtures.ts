import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Catalog } from '../../src/config/catalog/catalog.ts';
import type { Guards } from '../../src/config/config.ts';
import { type Loaded, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { loadGuards, loadTopGuards } from '../../src/config/parse/guards.ts';
import { readDocument } from '../../src/config/text/document.ts';
import { Faults } from '../../src/config/text/faults.ts';
import type { Part } from '../../src/config/text/variables.ts';
import type { Problem } from '../../src/lib/problem.ts';
import { defineConnector } from '../../src/sdk/connector.ts';
import { option } from '../../src/sdk/option.ts';
import { defineTransform, type Transform } from '../../src/transforms/transform.ts';

/** A private folder with these files, which is deleted after the test. */
export async function folderWith(files: Record<string, string | Buffer>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const nothing = { check: async () => 'fine', extract: () => Promise.reject(new Error('not here')) };

/** A connector that has an option of every kind, and rules of its own. */
export const warehouse = defineConnector({
  id: 'warehouse',
  title: 'Warehouse',
  summary: 'Reads shelves.',
  source: {
    host: option.text({ required: true, about: 'Where it is.', example: 'db.example.com' }),
    port: option.integer({ about: 'Its port.', minimum: 1, maximum: 65_535, default: 5432 }),
    password: option.text({ about: 'Its password.', secret: true }),
    mode: option.choice(['fast', 'careful'], { about: 'How to read.', default: 'fast' }),
    compress: option.boolean({ about: 'Squeeze.', default: false }),
    auth: option.schema<Record<string, unknown> | undefined>(
      {
        anyOf: [
          { type: 'string' },
          {
            type: 'object',
            additionalProperties: false,
            properties: { token: { type: 'string', writeOnly: true }, realm: { type: 'string' } },
            required: ['token'],
          },
        ],
      },
      { about: 'Who we are.' },
    ),
    headers: option.map<string>({ type: 'string' }, { about: 'Extra headers.', secret: true }),
  },
  query: {
    sql: option.text({ required: true, about: 'The statement.', example: 'select 1' }),
    limit: option.integer({ about: 'At most.', minimum: 1 }),
    since: option.text({ about: 'Only what is new by this column.' }),
  },
  shorthand: 'sql',
  givesOnlyNewBy: ({ since }) => (since === undefined ? undefined : 'since'),
  validate: ({ source, query }) => [
    ...(source.host === 'forbidden' ? [{ option: 'host', message: 'This host is closed' }] : []),
    ...(query?.sql.startsWith('drop') ? [{ option: 'sql', message: 'Only reading is possible' }] : []),
  ],
  ...nothing,
});

export const clock = defineConnector({
  id: 'clock',
  title: 'Clock',
  summary: 'Reads the time.',
  source: {},
  query: { zone: option.text({ about: 'Which.', default: 'UTC' }) },
  ...nothing,
});

const select = defineTransform<readonly string[]>({
  id: 'select',
  title: 'Select',
  summary: 'Keeps columns.',
  schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
  prepare: (_, columns) => ({ columns, apply: (batch) => batch }),
});

const filter = defineTransform<string>({
  id: 'filter',
  title: 'Filter',
  summary: 'Keeps rows.',
  schema: { type: 'string' },
  prepare: (_, columns) => ({ columns, apply: (batch) => batch }),
  check: (text) => (text.includes('>>') ? ['The expression has an operator too many: >>'] : []),
});

export const transforms = [select, filter] as readonly Transform[];

const connectors = new Map(
  [warehouse, clock].map((connector) => [connector.id, connector as unknown as typeof warehouse]),
);
export const catalog = async (): Promise<Catalog> => ({
  ids: [...connectors.keys()],
  problems: [],
  load: async (id) => connectors.get(id),
  origin: () => 'sluice',
  file: () => undefined,
});

/** Loads this text as a config, with the connectors and transforms above and an empty environment. */
export async function load(
  text: string,
  options: LoadOptions = {},
  files: Record<string, string> = {},
): Promise<Loaded> {
  const folder = await folderWith({ ...files, 'sluice.yaml': text });
  return loadConfig(join(folder, 'sluice.yaml'), { env: {}, catalog, transforms, ...options });
}

export const id = (digit: string): string => digit.repeat(32);

/** A valid config; `jobs` replaces its only job. */
export function configWith(jobs: string, top = ''): string {
  return `version: 1
${top}
destinations:
  main:
    url: http://127.0.0.1:8080/api/1.0
    api_key: abcdefabcdef
sources:
  shop:
    connector: warehouse
    host: db.example.com
jobs:
${jobs}
`;
}

export const goodJob = `  orders:
    source: shop
    query: select 1
    format: csv
    target: ${id('a')}
`;

/** Problems as one line each, for comparison. */
export function lines(problems: readonly Problem[]): string[] {
  return problems.map(({ code, where }) => `${where.line}:${where.character} ${code}`);
}

const part = (value: unknown): Part => ({ path: '', value, resolved: new Map(), broken: new Set() });

/** The guards of a job with these options, and with these guards at the top level. */
export function guardsOf(job: unknown, top: unknown): Guards {
  const faults = new Faults(readDocument('sluice.yaml', 'a: 1'));
  return loadGuards(part(job), loadTopGuards(part(top), faults), faults);
}
