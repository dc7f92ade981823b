import { posix } from 'node:path';
import picomatch from 'picomatch';

/** What a query reads, for a comparison with another query. */
export interface FilePattern {
  /** Identifies the machine, the server and the user. */
  readonly place: string;
  /** A path or a glob. Relative paths of the same place start from the same folder. */
  readonly pattern: string;
}

/** Whether two queries may read the same file. In case of doubt, they may. */
export function mayShareFiles(one: FilePattern, other: FilePattern): boolean {
  if (one.place !== other.place) return false;
  const [a, b] = [segmentsOf(one.pattern), segmentsOf(other.pattern)];
  const [lastA, lastB] = [a.at(-1)!, b.at(-1)!];
  // Alternatives may contain slashes, so a segment may have only a part of them.
  const isFree = (name: string) => name === '**' || /\{[^}]*$|^[^{]*\}/.test(name);
  if (!isFree(lastA) && !isFree(lastB) && !mayShareName(lastA, lastB)) return false;
  // It's unknown where relative paths start.
  if (posix.isAbsolute(one.pattern) !== posix.isAbsolute(other.pattern)) return true;
  const first = Math.min(...[a, b].map((names) => names.findIndex(isFree)).filter((at) => at !== -1), Number.MAX_VALUE);
  if (first === Number.MAX_VALUE && a.length !== b.length) return false;
  return a.slice(0, first).every((name, i) => b[i] === undefined || mayShareName(name, b[i]));
}

const segmentsOf = (pattern: string): string[] => posix.normalize(pattern).split('/');

/** Whether a name may match both patterns, which don't contain slashes. */
function mayShareName(one: string, other: string): boolean {
  if (one === other || one === '**' || other === '**') return true;
  const [isOne, isOther] = [one, other].map((name) => picomatch.scan(name).isGlob);
  if (!isOne && !isOther) return false;
  if (!isOne) return picomatch(other, { dot: true })(one);
  if (!isOther) return picomatch(one, { dot: true })(other);
  const [a, b] = [endsOf(one), endsOf(other)];
  const isStart = a.start.startsWith(b.start) || b.start.startsWith(a.start);
  return isStart && (a.end.endsWith(b.end) || b.end.endsWith(a.end));
}

/** The literal text before the first and after the last special character. */
function endsOf(pattern: string): { readonly start: string; readonly end: string } {
  const [start = ''] = /^[^*?[\]{}()!+@|\\]*/.exec(pattern) ?? [];
  const [end = ''] = /[^*?[\]{}()!+@|\\]*$/.exec(pattern) ?? [];
  return { start, end };
}
