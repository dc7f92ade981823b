import picomatch from 'picomatch';

/** A path pattern. Matches paths, and prunes folders that can't contain any matches. */
export interface Glob {
  /** The folders before the first segment with a wildcard; empty if there are none. */
  readonly base: string;
  matches(path: string): boolean;
  /** Whether a path below this folder may match the pattern. */
  mayHold(folder: string): boolean;
}

/** Returns undefined if the text isn't a pattern. The `file` connector's globs follow the same rules. */
export function globOf(pattern: string): Glob | undefined {
  const { isGlob, base } = picomatch.scan(pattern);
  if (!isGlob) return undefined;
  const matches = matcherOf(pattern);
  const segments = pattern.split('/');
  // Braces may contain a slash. Segments then can't be matched separately, so all folders are searched.
  const isFree = segments.some((segment) => count(segment, '{') !== count(segment, '}'));
  const steps = segments.slice(0, -1).map((segment) => (segment === '**' ? undefined : matcherOf(segment)));
  const mayHold = (folder: string) => isFree || leadsOn(folder.split('/'), steps);
  return { base: base === '' || isFree ? baseOf(pattern) : base, matches, mayHold };
}

/** An absolute pattern begins with `/`, so its first segment is empty. */
function matcherOf(pattern: string): (path: string) => boolean {
  if (pattern === '') return (path) => path === '';
  const matches = picomatch(pattern);
  return (path) => matches(path);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** The segments before the first segment with a wildcard. */
function baseOf(pattern: string): string {
  const segments = pattern.split('/');
  const first = segments.findIndex((segment) => /[*?[\]{}()!+@\\]/.test(segment));
  return segments.slice(0, first).join('/');
}

/**
 * Whether the folder can contain matching files, because its segments match the pattern's first segments. After `**`,
 * any segments match.
 */
function leadsOn(names: readonly string[], steps: readonly (((name: string) => boolean) | undefined)[]): boolean {
  for (const [i, name] of names.entries()) {
    if (i >= steps.length) return false;
    const step = steps[i];
    if (step === undefined) return true;
    if (!step(name)) return false;
  }
  return true;
}
