import { createHash } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { collectResources } from '../../src/service/collect.ts';
import { openApiOf } from '../../src/service/openapi/document.ts';
import { loadExamples } from '../../src/service/openapi/examples.ts';
import { asOpenApi30 } from '../../src/service/openapi/version-3.0.ts';
import { cached } from '../servers/fetch.ts';

/** The OpenAPI document in a version that generators read. */
export interface DocumentFile {
  readonly version: '3.1' | '3.0';
  readonly file: string;
  /** The first digits of the document's hash. */
  readonly hash: string;
}

/** Writes the OpenAPI document, with a fixed URL, to a file that later runs find again. */
export async function documentFile(version: '3.1' | '3.0'): Promise<DocumentFile> {
  const document = openApiOf(await collectResources(), {
    url: 'http://127.0.0.1:8080',
    examples: await loadExamples(),
  });
  const text = JSON.stringify(version === '3.1' ? document : asOpenApi30(document), null, 1);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const folder = await cached(`openapi-${hash}`, (made) => writeFile(join(made, 'openapi.json'), text));
  return { version, file: join(folder, 'openapi.json'), hash };
}

/** A program that makes a client. */
export interface ClientGenerator {
  readonly name: string;
  /** Everything that the client depends on except the document: the program, its version and its arguments. */
  readonly recipe: readonly string[];
  readonly make: (folder: string) => Promise<void>;
}

/**
 * Returns the folder with the client that a generator makes of a document. The client is made again if the document or
 * the recipe changes. Clients of other documents and recipes are removed after a week; until then, tests of another
 * checkout may use them.
 */
export async function generatedClient(
  { name, recipe, make }: ClientGenerator,
  { version, hash }: DocumentFile,
): Promise<string> {
  const made = createHash('sha256')
    .update(JSON.stringify([hash, ...recipe]))
    .digest('hex')
    .slice(0, 12);
  const prefix = `client-${name}-${version}-`;
  const folder = await cached(`${prefix}${made}`, make);
  await removeOthers(folder, prefix);
  return folder;
}

const weekMs = 7 * 86_400_000;

async function removeOthers(folder: string, prefix: string): Promise<void> {
  const cache = dirname(folder);
  const others = (await readdir(cache)).filter((name) => name.startsWith(prefix) && name !== basename(folder));
  for (const name of others) {
    const made = await stat(join(cache, name)).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > weekMs)
      await rm(join(cache, name), { recursive: true, force: true });
  }
}
