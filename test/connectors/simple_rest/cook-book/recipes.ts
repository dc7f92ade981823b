import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../../../src/config/load.ts';
import { Chain } from '../../../../src/pipeline/chain.ts';
import { batchText, type Extraction, type RunWarning } from '../../../../src/sdk/index.ts';

const page = new URL('../../../../docs/rest-cook-book.md', import.meta.url);

/** A recipe of the cook book. */
export interface Recipe {
  readonly title: string;
  readonly yaml: string;
  /** More jobs of the same config. */
  readonly more: string | undefined;
  /** The GraphQL query that the recipe's config reads from a file. */
  readonly graphql: string | undefined;
}

export async function readRecipes(): Promise<readonly Recipe[]> {
  const sections = (await readFile(page, 'utf8')).split(/^## /m).slice(1);
  return sections.map((section) => {
    const [yaml, more] = [...section.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text);
    const title = section.slice(0, section.indexOf('\n'));
    return { title, yaml: yaml!, more, graphql: /```graphql\n(.*?)```/s.exec(section)?.[1] };
  });
}

interface RunRecipeOptions {
  /** URL of the server that replaces the API. */
  readonly url: string;
  /** Value of the recipe's environment variable. */
  readonly secret: string;
  /** An empty folder. */
  readonly folder: string;
  /** The job to read. Default: the first one. */
  readonly job?: string;
}

/**
 * Loads the recipe's config as users would, with the server's URL instead of the API's, and reads and transforms all
 * rows.
 */
export async function runRecipe({ yaml, more, graphql }: Recipe, { url, secret, folder, job }: RunRecipeOptions) {
  const { sources, jobs } = parse(yaml) as Record<'sources' | 'jobs', Record<string, Record<string, unknown>>>;
  if (more !== undefined) Object.assign(jobs, (parse(more) as { jobs: typeof jobs }).jobs);
  for (const source of Object.values(sources)) {
    const { pathname } = new URL(String(source.url));
    source.url = `${url}${pathname}`;
  }
  for (const [i, one] of Object.values(jobs).entries())
    Object.assign(one, { target: `a${i}`.repeat(16), format: 'csv' });
  const destinations = { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'x'.repeat(40) } };
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, JSON.stringify({ version: 1, destinations, sources, jobs }));
  if (graphql !== undefined) await writeFile(join(folder, 'orders.graphql'), graphql);
  const variable = /\$\{env:(\w+)\}/.exec(yaml)![1]!;
  const { config, problems } = await loadConfig(file, { env: { [variable]: secret } });
  if (problems.length > 0) throw problems[0]!;
  const warnings: RunWarning[] = [];
  const silent = () => undefined;
  const read = async (name: string): Promise<Extraction> => {
    const { query, source } = config!.jobs.get(name)!.extract!;
    const scratch = await mkdtemp(join(folder, 'scratch-'));
    return source.connector.extract({
      ...{ source: source.options, query, folder, scratch, signal: new AbortController().signal },
      log: { debug: silent, info: silent, warn: silent },
      warn: (warning) => void warnings.push(warning),
      rowsOf: async (other) => ({ ...(await read(other)), asOf: 0 }),
    });
  };
  const name = job ?? [...config!.jobs.keys()][0]!;
  const { columns, batches } = await read(name);
  const chain = new Chain(config!.jobs.get(name)!.extract!.transforms, columns);
  const rows: (string | null)[][] = [];
  let before = 0;
  for await (const batch of batches) {
    for (const shaped of chain.apply(batch, before)) rows.push(...batchText(shaped));
    before += batch.length;
  }
  for (const held of chain.finish()) rows.push(...batchText(held));
  return { columns: chain.columns.map((column) => column.name), rows, warnings };
}
