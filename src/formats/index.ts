import { all } from './all.generated.ts';
import type { Format } from './format.ts';

/** All output formats: the files of `all/`. */
export const formats: readonly Format[] = Object.values<Format>(all);

/** The format with this id. */
export function formatById(id: string): Format {
  return formats.find((format) => format.id === id)!;
}
