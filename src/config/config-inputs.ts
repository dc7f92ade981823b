import { readFile } from 'node:fs/promises';
import type { Making } from './load.ts';
import { fileValue, type Piece } from './text/variable-scan.ts';
import { secretVariablesIn } from './text/variable-syntax.ts';

/** The inputs that a loaded config depends on, in addition to its file's text. */
export interface ConfigInputs {
  /** The names of the environment variables that the config uses or might use. */
  readonly variables: readonly string[];
  /** The files that the config's variables refer to, with the values that were read. */
  readonly files: ReadonlyMap<string, string>;
  /** A dependency whose value can't be compared; absent if there is none. */
  readonly other?: string;
}

/** Returns the inputs that a loaded config depends on. */
export function inputsOf({ document, parts }: Making): ConfigInputs {
  const texts = [...textsIn(document.value)].filter((text) => text.includes('${'));
  const names = texts.flatMap((text) => [...text.matchAll(/\$\{\s*env\s*:\s*([^\s:}]+)/g)].map(([, name]) => name!));
  const pieces = parts.flatMap((part) => [...part.resolved.values()].flatMap((resolved) => resolved.pieces));
  const files = pieces.filter((piece): piece is Piece & { file: string } => piece.file !== undefined);
  const other = otherIn(document.value, texts);
  return {
    variables: [...new Set(names)],
    files: new Map(files.map(({ file, text }) => [file, text])),
    ...(other === undefined ? {} : { other }),
  };
}

/** Whether the files that the config refers to still contain the values that were read. */
export async function areFilesSame({ files }: ConfigInputs): Promise<boolean> {
  for (const [file, text] of files) {
    const now = await readFile(file, 'utf8').catch(() => undefined);
    if (now === undefined || fileValue(now) !== text) return false;
  }
  return true;
}

function otherIn(value: unknown, texts: readonly string[]): string | undefined {
  if (texts.some((text) => /\$\{\s*cmd\s*:/.test(text))) return 'the output of a command';
  if (texts.some((text) => secretVariablesIn(text).length > 0)) return 'secrets from a provider';
  if (texts.some((text) => /\$\{\s*file\s*:[^}]*\$\{\s*file\s*:/.test(text)))
    return 'a file whose path is in another file';
  const { connectors, connector_packages: packages } = (value ?? {}) as Record<string, unknown>;
  return connectors === undefined && packages === undefined ? undefined : 'its own connectors';
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsIn(one);
}
