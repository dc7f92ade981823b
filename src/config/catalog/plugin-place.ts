import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isOwnFile } from '../../lib/missing-module.ts';
import type { ProblemLocation } from '../../lib/problem.ts';

/** A parser of Node's puts the place first, then the source with carets below it. */
const parserPlace = /^(?<file>file:\/\/\S+|\/.*):(?<line>\d+)\n(?:.*\n){0,4}?(?<before>\s*)\^/;
const framePlace = /^\s+at (?:.*\()?(?<file>file:\/\/[^\s()]+|\/[^()]+?):(?<line>\d+):(?<character>\d+)\)?$/gm;

/** Where an error of a connector was made: the file (its own, or one that it imports), and line and character if they can be found. */
export async function placeOfError(file: string, error: unknown): Promise<ProblemLocation> {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const found = name === 'SyntaxError' ? (parsedAt(stack) ?? parsedAt(await checkSyntax(file))) : thrownAt(stack);
  return found ?? { file };
}

function parsedAt(text: string): ProblemLocation | undefined {
  const { before = '', ...place } = parserPlace.exec(text)?.groups ?? {};
  return place.file === undefined ? undefined : whereOf(place, before.length + 1);
}

/** Above the frames of Node's loader stand those of the module that was being loaded; ours below are no fault of its. */
function thrownAt(stack: string): ProblemLocation | undefined {
  const [frames, ...loader] = stack.split(/^\s+at .*\(node:internal\/modules.*$/m);
  const places = [...frames!.matchAll(framePlace)].map(({ groups = {} }) => whereOf(groups, Number(groups.character)));
  return loader.length === 0 ? undefined : places.find(({ file = '' }) => !isOwnFile(file));
}

function whereOf({ file = '', line }: Record<string, string>, character: number): ProblemLocation {
  return { file: file.startsWith('file:') ? fileURLToPath(file) : file, line: Number(line), character };
}

/** What Node says of the syntax of a file: an import keeps the place of JavaScript's faults to itself. */
function checkSyntax(file: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], (_error, _stdout, stderr) => resolve(stderr));
  });
}
