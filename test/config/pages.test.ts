import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';

const root = resolve(import.meta.dirname, '../..');
const connectorPages = readdirSync(join(root, 'docs/connectors')).map((name) => `docs/connectors/${name}`);
const topics = ['budget', 'connectors', 'guards', 'incremental', 'oauth', 'transforms'].map(
  (name) => `docs/${name}.md`,
);
const pages = ['README.md', ...topics, ...connectorPages];

type Part = Record<string, unknown>;

async function examplesOf(page: string): Promise<unknown[]> {
  const text = await readFile(join(root, page), 'utf8');
  return [...text.matchAll(/```ya?ml\n([\s\S]*?)```/g)].map((match) => parse(match[1]!) as unknown);
}

/** Pages show the part that they describe; this adds the rest of a complete config. */
function completed(example: unknown): Part {
  const main = { url: 'https://service.example/api/1.0', api_key: 'x'.repeat(12) };
  const files = { connector: 'file' };
  const around = { version: 1, destinations: { main }, sources: { files } };
  const job = { source: 'files', query: 'a.csv', target: 'ab'.repeat(16), format: 'csv' };
  if (Array.isArray(example)) return { ...around, jobs: { shown: { ...job, transforms: example } } };
  const part = example as { [name: string]: unknown; destinations?: Record<string, Part>; jobs?: Record<string, Part> };
  if (part.transforms !== undefined) return { ...around, jobs: { shown: { ...job, ...part } } };
  const { query: _, source: __, ...rest } = job;
  const jobs = Object.entries(part.jobs ?? {}).map(([name, given], i) => {
    const target = i.toString(16).padStart(32, '0');
    return [name, { ...(given.source === undefined ? job : rest), target, ...given }] as const;
  });
  const destinations = Object.entries(part.destinations ?? { main }).map(([name, given]) => [
    name,
    { ...main, ...given },
  ]);
  return {
    ...around,
    ...part,
    destinations: Object.fromEntries(destinations),
    sources: { files, ...(part.sources as Part | undefined) },
    jobs: Object.fromEntries(jobs),
  };
}

/** Every variable that a page mentions is set. */
function envFor(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{env:(\w+)/g)].map((match) => match[1]!);
  return Object.fromEntries(
    names.map((name) => [name, name.endsWith('URL') ? 'postgres://reader:secret@db.example/shop' : 'x1234567']),
  );
}

async function faultsOf(config: Part): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pages-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // The connector in the page about writing connectors.
  await cp(join(root, 'config/scaffold'), join(folder, 'my-connectors'), { recursive: true });
  const text = JSON.stringify(config);
  await writeFile(join(folder, 'sluice.yaml'), text);
  const { problems } = await loadConfig(join(folder, 'sluice.yaml'), { env: envFor(text) });
  return problems.map(({ code, message, seen }) => `${code} ${message} ${seen ?? ''}`);
}

describe.each(pages)('the configs on %s', (page) => {
  it('exist and load without errors', async () => {
    const examples = await examplesOf(page);
    const isGone = (await readFile(join(root, page), 'utf8')).includes('**Retired.**');
    if (!isGone) expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(await faultsOf(completed(example))).toEqual([]);
  });
});

describe('an error on a page', () => {
  it('is detected', async () => {
    expect(await faultsOf(completed([{ flter: 'true' }]))).not.toEqual([]);
  });
});
