import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/**
 * Returns the folder with the client that a generator makes of a document. The client is made once for each document and
 * each generator; change `name` to make it again.
 */
export function generatedClient(
  name: string,
  { hash }: DocumentFile,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  return cached(`client-${name}-${hash}`, async (folder) => {
    await mkdir(folder, { recursive: true });
    await make(folder);
  });
}
