import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type Document as Yaml,
} from 'yaml';
import { Problem, type ProblemLocation } from '../../lib/problem.ts';

/** A JSON pointer to a value in the config: `/jobs/orders/format`. The root's pointer is the empty string. */
export type Path = string;

/** A config file as plain data, with the location of every key and value. */
export interface Document {
  /** The file name for messages, exactly as the caller wrote it. */
  readonly file: string;
  readonly value: unknown;
  /** Errors in the file's text: invalid syntax, duplicate keys, and numbers that are too large to be exact. */
  readonly problems: readonly Problem[];
  /**
   * Returns the location of the key or, if `part` is `value`, of its value. If the key is absent, returns the location
   * of its nearest existing parent.
   */
  place(path: Path, part?: 'key' | 'value'): ProblemLocation;
  /**
   * Returns the location of `text` inside the value at `path`. If the text isn't found, returns the value's own
   * location.
   */
  placeWithin(path: Path, text: string): ProblemLocation;
  /**
   * Returns the raw text of the value at `path`. Callers need the raw text because YAML parses `1e5` and `007` as
   * numbers.
   */
  written(path: Path): string;
}

/** Returns the JSON pointer to a member of the value at `path`. */
export function below(path: Path, key: string | number): Path {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Decodes one segment of a JSON pointer to the key that it refers to. */
export function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

interface Span {
  readonly key?: number;
  readonly value: number;
  readonly end: number;
}

/** Maximum number of nodes. The limit protects against alias bombs ("billion laughs"). */
const maxNodes = 100_000;

/** Parses YAML, which includes JSON. Never throws for invalid input; `problems` contains the errors. */
export function readDocument(file: string, text: string): Document {
  const lines = new LineCounter();
  const yaml = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    intAsBigInt: true,
    keepSourceTokens: false,
  });
  const placeAt = (offset: number): ProblemLocation => {
    const { line, col } = lines.linePos(offset);
    return { file, line, character: col };
  };
  const problems: Problem[] = [];
  for (const fault of firstFaults([...yaml.errors, ...yaml.warnings])) {
    const where = placeAt(fault.pos[0]);
    if (problems.at(-1)?.where.line === where.line) continue;
    problems.push(syntaxProblem(fault, { where, line: text.split('\n')[where.line! - 1] ?? '' }));
  }
  const reader = new Reader(yaml, placeAt, problems);
  const value = problems.length === 0 ? reader.read(yaml.contents, '') : undefined;
  const spanOf = (path: Path): Span =>
    reader.spans.get(path) ?? (path === '' ? { value: 0, end: 0 } : spanOf(parent(path)));
  return {
    file,
    value,
    problems,
    place: (path, part = 'value') => {
      const span = spanOf(path);
      return placeAt(part === 'key' ? (span.key ?? span.value) : span.value);
    },
    written: (path) => text.slice(spanOf(path).value, spanOf(path).end),
    placeWithin: (path, wanted) => {
      const { value: start, end } = spanOf(path);
      const found = text.slice(start, end).indexOf(wanted);
      return placeAt(start + Math.max(found, 0));
    },
  };
}

/**
 * Once the parser loses its place, it reports an error for every word until the end of the file. Only the errors up to
 * that point are useful.
 */
function firstFaults<F extends { message: string }>(faults: readonly F[]): readonly F[] {
  const lost = faults.findIndex(({ message }) => message.includes('token in YAML stream'));
  return lost === -1 ? faults : faults.slice(0, Math.max(1, lost));
}

function parent(path: Path): Path {
  return path.slice(0, path.lastIndexOf('/'));
}

function syntaxProblem(fault: { message: string }, { where, line }: { where: ProblemLocation; line: string }): Problem {
  return new Problem({
    code: 'CONFIG_SYNTAX',
    family: 'config',
    message: `The file is not valid YAML: ${wordsOf(fault.message)}`,
    where,
    next: fixOf(line),
  });
}

function wordsOf(message: string): string {
  if (message.includes('multiple documents')) return 'it contains several documents, separated by "---"';
  return message.replace(/\s+/g, ' ').replace(/\.$/, '');
}

/** Suggests a fix for the two most common mistakes: an unquoted cron expression and an unquoted variable. */
function fixOf(line: string): string {
  const cron =
    /^\s*(?:-\s*)?(\w+):\s*([*@][^"'#]*?)\s*$/.exec(line) ??
    /[{,]\s*(\w+):\s*([*@][^"'#{}]*?)\s*(?:[}]|,\s*\w+:)/.exec(line);
  if (cron) return `put the value in quotes: ${cron[1]}: "${cron[2]}"`;
  const variable = /[{[].*?(\$\{[^}]*\})/.exec(line);
  if (variable) return `quote variables inside braces: "${variable[1]}"`;
  return 'check this line and the one above it for wrong indentation, a missing colon or an open quote';
}

/** Walks the nodes once. Builds plain values and records their locations. */
class Reader {
  readonly spans = new Map<Path, Span>();
  readonly #yaml: Yaml;
  readonly #placeAt: (offset: number) => ProblemLocation;
  readonly #problems: Problem[];
  readonly #open = new Set<Node>();
  #nodes = 0;

  constructor(yaml: Yaml, placeAt: (offset: number) => ProblemLocation, problems: Problem[]) {
    this.#yaml = yaml;
    this.#placeAt = placeAt;
    this.#problems = problems;
  }

  read(node: Node | null | undefined, path: Path, key?: number): unknown {
    const span = { value: node?.range?.[0] ?? key ?? 0, end: node?.range?.[1] ?? key ?? 0 };
    this.spans.set(path, key === undefined ? span : { ...span, key });
    if (node === null || node === undefined || this.#isTooMuch(node)) return null;
    if (isAlias(node)) return this.read(node.resolve(this.#yaml), path, key);
    if (isScalar(node)) return this.#scalar(node);
    this.#open.add(node);
    const value = isMap(node)
      ? Object.fromEntries(this.#entries(node, path))
      : isSeq(node)
        ? node.items.map((item, i) => this.read(item as Node, below(path, i)))
        : null;
    this.#open.delete(node);
    return value;
  }

  #isTooMuch(node: Node): boolean {
    if (++this.#nodes < maxNodes && !this.#open.has(node)) return false;
    if (this.#problems.every((problem) => problem.code !== 'CONFIG_ALIASES')) {
      const message = 'Aliases (*name) are circular or expand to too many nodes';
      this.#report('CONFIG_ALIASES', message, node.range?.[0] ?? 0);
    }
    return true;
  }

  #scalar(node: Scalar): unknown {
    if (typeof node.value !== 'bigint') return node.value;
    if (node.value <= Number.MAX_SAFE_INTEGER && node.value >= Number.MIN_SAFE_INTEGER) return Number(node.value);
    this.#problems.push(
      new Problem({
        code: 'CONFIG_NUMBER',
        family: 'config',
        message: 'This integer is too large to be exact',
        where: this.#placeAt(node.range?.[0] ?? 0),
        seen: node.source ?? String(node.value),
        next: `put it in quotes: "${node.source ?? node.value}"`,
      }),
    );
    return String(node.value);
  }

  #entries(node: Extract<Node, { items: unknown }>, path: Path): Map<string, unknown> {
    const entries = new Map<string, unknown>();
    const first = new Map<string, number>();
    const merged: Node[] = [];
    for (const pair of (isMap(node) ? node.items : []) as { key: Node; value: Node | null }[]) {
      const at = pair.key.range?.[0] ?? 0;
      const name = isScalar(pair.key) ? String(pair.key.source ?? pair.key.value) : undefined;
      if (name === undefined) this.#report('CONFIG_SYNTAX', 'A key must be plain text', at);
      else if (name === '<<' && pair.value !== null) merged.push(pair.value);
      else if (first.has(name)) this.#duplicate(name, at, first.get(name)!);
      else {
        first.set(name, at);
        entries.set(name, this.read(pair.value, below(path, name), at));
      }
    }
    for (const source of merged) this.#merge(source, path, entries);
    return entries;
  }

  /** Merges `<<: *defaults`. The map's own entries take precedence over merged entries. */
  #merge(source: Node, path: Path, entries: Map<string, unknown>): void {
    const target = isAlias(source) ? source.resolve(this.#yaml) : source;
    if (isSeq(target)) for (const item of target.items) this.#merge(item as Node, path, entries);
    if (!isMap(target) || this.#isTooMuch(target)) return;
    const kept = new Map([...this.spans].filter(([known]) => known.startsWith(`${path}/`)));
    this.#open.add(target);
    for (const [name, value] of this.#entries(target, path)) if (!entries.has(name)) entries.set(name, value);
    this.#open.delete(target);
    for (const [known, span] of kept) this.spans.set(known, span);
  }

  #duplicate(name: string, at: number, first: number): void {
    this.#problems.push(
      new Problem({
        code: 'CONFIG_DUPLICATE_KEY',
        family: 'config',
        message: `"${name}" is defined twice`,
        where: this.#placeAt(at),
        seen: `first defined on line ${this.#placeAt(first).line}`,
        next: 'delete or rename one of the two',
      }),
    );
  }

  #report(code: string, message: string, offset: number): void {
    this.#problems.push(new Problem({ code, family: 'config', message, where: this.#placeAt(offset) }));
  }
}
