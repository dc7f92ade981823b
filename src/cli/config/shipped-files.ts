import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/**
 * The text of a file in the package's config folder. That folder is three levels above this source file and four levels
 * above the built file.
 */
export async function shipped(name: string): Promise<string> {
  for (const up of ['../../../config', '../../../../config']) {
    const text = await readFile(resolve(import.meta.dirname, up, name), 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new Error(`config/${name} is missing from the package`);
}
