import { csv } from './csv.ts';
import type { Format } from './format.ts';
import { json } from './json.ts';
import { xml } from './xml.ts';

/** All output formats, in the order in which they are listed to people. */
export const formats: readonly Format[] = [csv, json, xml];

/** The format with this id. */
export function formatById(id: Format['id']): Format {
  return formats.find((format) => format.id === id)!;
}
