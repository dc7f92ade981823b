import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadCatalogue } from '../config/catalogue.ts';
import { configSchema, type Declarations } from '../config/json-schema.ts';
import { configReference } from '../config/reference.ts';
import { formats } from '../formats/index.ts';
import { transforms } from '../transforms/index.ts';

/**
 * Writes what is made out of declarations: the JSON Schema for editors and the reference page. With `--check` nothing is
 * written; a file that is stale is named, with the command that mends it. `--into FOLDER` stands for the checkout.
 */
const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    into: { type: 'string', default: resolve(import.meta.dirname, '../..') },
  },
});

const generated: Record<string, (declarations: Declarations) => string> = {
  'config/sluice.schema.json': (declarations) => `${JSON.stringify(configSchema(declarations), null, 2)}\n`,
  'docs/config.md': configReference,
};

async function declarationsOfAll(): Promise<Declarations> {
  const { connectors, problems } = await loadCatalogue();
  const [broken] = problems;
  if (broken !== undefined) throw broken;
  return { connectors: [...connectors.values()], formats, transforms };
}

async function isFresh(file: string, text: string): Promise<boolean> {
  return (await readFile(file, 'utf8').catch(() => '')) === text;
}

async function generate({ check, into }: { check: boolean; into: string }): Promise<void> {
  const declarations = await declarationsOfAll();
  for (const [name, make] of Object.entries(generated)) {
    const file = resolve(into, name);
    const text = make(declarations);
    if (await isFresh(file, text)) continue;
    if (check) {
      process.stderr.write(`${name} is not what the declarations say. Mend it with: npm run generate\n`);
      process.exitCode = 1;
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      process.stdout.write(`wrote ${name}\n`);
    }
  }
}

await generate(flags);
