import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { listRegistries } from './generate/registries.ts';

/**
 * Generates files from folders and declarations: the lists of formats, transforms, channels, secrets providers and
 * migrations, the JSON Schema for editors, the reference pages of the config and of every connector, the table of the
 * service's endpoints, the log lines, the schema hashes, and the files that pages quote. With `--check`, doesn't write
 * any files, but reports stale files and the command that updates them. `--into FOLDER` writes to another folder
 * instead of the checkout.
 */
const root = resolve(import.meta.dirname, '../..');
const { values: flags } = parseArgs({
  options: { check: { type: 'boolean', default: false }, into: { type: 'string', default: root } },
});

interface Flags {
  readonly check: boolean;
  readonly into: string;
}

/** The reference pages of connectors that no longer exist. */
async function orphansIn(
  into: string,
  { files, pagesFolder }: { files: ReadonlyMap<string, string>; pagesFolder: string },
): Promise<string[]> {
  const there = await readdir(resolve(into, pagesFolder)).catch(() => []);
  return there.map((name) => `${pagesFolder}/${name}`).filter((name) => !files.has(name));
}

/** Writes the files whose content differs, or reports them. Returns true if no file differs. */
async function settle(files: ReadonlyMap<string, string>, { check, into }: Flags): Promise<boolean> {
  let isFresh = true;
  for (const [name, text] of files) {
    const file = resolve(into, name);
    if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
    isFresh = false;
    if (check) {
      complain(`${name} is stale. Fix it with: npm run generate`);
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      process.stdout.write(`wrote ${name}\n`);
    }
  }
  return isFresh;
}

async function generate(flags: Flags): Promise<void> {
  // These lists are generated first, because the other modules import them.
  const isListed = await settle(await listRegistries(root), flags);
  if (!isListed && flags.check && flags.into === root) return;
  const { makeFiles, pagesFolder } = await import('./generate/generated-files.ts');
  const files = await makeFiles(root);
  await settle(files, flags);
  for (const name of await orphansIn(flags.into, { files, pagesFolder }))
    complain(`${name} does not belong to any connector. Remove it`);
}

function complain(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

await generate(flags);
