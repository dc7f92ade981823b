import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isOwnFile } from '../../lib/missing-module.ts';
import type { ProblemLocation } from '../../lib/problem.ts';

/** Node's TypeScript parser prints the location first, then the source code with carets below it. */
const parserPlace = /^(?<file>file:\/\/\S+|\/.*):(?<line>\d+)\n(?:.*\n){0,4}?(?<before>\s*)\^/;
const framePlace = /^\s+at (?:.*\()?(?<file>file:\/\/[^\s()]+|\/[^()]+?):(?<line>\d+):(?<character>\d+)\)?$/gm;

/**
 * The location of a connector's error: the path of the faulty file (the connector's own file or one that it imports)
 * and, if known, the line and column.
 */
export async function placeOfError(file: string, error: unknown): Promise<ProblemLocation> {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const found = name === 'SyntaxError' ? (parsedAt(stack) ?? parsedAt(await checkSyntax(file))) : thrownAt(stack);
  return found ?? { file };
}

function parsedAt(text: string): ProblemLocation | undefined {
  const { before = '', ...place } = parserPlace.exec(text)?.groups ?? {};
  return place.file === undefined ? undefined : whereOf(place, before.length + 1);
}

/** Stack frames above Node's loader belong to the imported module; frames below it belong to Sluice. */
function thrownAt(stack: string): ProblemLocation | undefined {
  const [frames, ...loader] = stack.split(/^\s+at .*\(node:internal\/modules.*$/m);
  const places = [...frames!.matchAll(framePlace)].map(({ groups = {} }) => whereOf(groups, Number(groups.character)));
  return loader.length === 0 ? undefined : places.find(({ file = '' }) => !isOwnFile(file));
}

function whereOf({ file = '', line }: Record<string, string>, character: number): ProblemLocation {
  return { file: file.startsWith('file:') ? fileURLToPath(file) : file, line: Number(line), character };
}

/**
 * Node's syntax report for a file. It's needed for JavaScript files, because the import error doesn't include the
 * location.
 */
function checkSyntax(file: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], (_error, _stdout, stderr) => resolve(stderr));
  });
}
