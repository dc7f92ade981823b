import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Problem } from '../../lib/problem.ts';
import type { Places } from '../catalog/catalog.ts';
import { readDocument } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import { readText } from '../text/read-text.ts';
import { readTop } from './top.ts';

/**
 * Returns where to look for a config's connectors, even if the config has other errors. Without a config file, there
 * are only the built-in connectors.
 */
export async function readPlaces(file: string): Promise<{ places: Places; problems: readonly Problem[] }> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return { places: {}, problems: [] };
  const text = await readText(file);
  if (typeof text !== 'string') return { places: {}, problems: [text] };
  const document = readDocument(file, text);
  if (document.value === undefined) return { places: {}, problems: document.problems };
  const faults = new Faults(document);
  const { places } = await readTop(document, { env: process.env, folder: dirname(resolve(file)), faults });
  return { places, problems: [] };
}
