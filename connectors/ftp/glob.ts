import picomatch from 'picomatch';

/** A pattern of paths: what it matches, and where on the server it is worth looking. */
export interface Glob {
  /** The folders in front of the first segment that has a pattern in it; empty when there are none. */
  readonly base: string;
  matches(path: string): boolean;
  /** Whether something below this folder may match. */
  mayHold(folder: string): boolean;
}

/** Undefined when the text is no pattern. The rules are those of the `file` connector's globs. */
export function globOf(pattern: string): Glob | undefined {
  const { isGlob, base } = picomatch.scan(pattern);
  if (!isGlob) return undefined;
  const matches = matcherOf(pattern);
  const segments = pattern.split('/');
  // Braces may hold a slash; then segments tell nothing, and every folder is worth a look.
  const isFree = segments.some((segment) => count(segment, '{') !== count(segment, '}'));
  const steps = segments.slice(0, -1).map((segment) => (segment === '**' ? undefined : matcherOf(segment)));
  const mayHold = (folder: string) => isFree || leadsOn(folder.split('/'), steps);
  return { base: base === '' || isFree ? baseOf(pattern) : base, matches, mayHold };
}

/** An absolute pattern has an empty segment in front. */
function matcherOf(pattern: string): (path: string) => boolean {
  if (pattern === '') return (path) => path === '';
  const matches = picomatch(pattern);
  return (path) => matches(path);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** The segments before the first that holds a character with a meaning. */
function baseOf(pattern: string): string {
  const segments = pattern.split('/');
  const first = segments.findIndex((segment) => /[*?[\]{}()!+@\\]/.test(segment));
  return segments.slice(0, first).join('/');
}

/** Whether the folder's names fit the first steps of the pattern; from `**` on, all do. */
function leadsOn(names: readonly string[], steps: readonly (((name: string) => boolean) | undefined)[]): boolean {
  for (const [i, name] of names.entries()) {
    if (i >= steps.length) return false;
    const step = steps[i];
    if (step === undefined) return true;
    if (!step(name)) return false;
  }
  return true;
}
