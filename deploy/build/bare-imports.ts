import { isBuiltin } from 'node:module';
import { parseAst } from 'rolldown/parseAst';

/** A built file: its code and its path in dist/. */
export interface BuiltFile {
  readonly fileName: string;
  readonly code: string;
}

interface AstNode {
  readonly type: string;
  readonly [member: string]: unknown;
}

/**
 * Optional packages that bundled code imports in a `try` block. `pg` uses `pg-native` if the user has installed it.
 * `mysql2` uses `cardinal` to color its debug output. `fdir` tries `picomatch`, but `tinyglobby` has its own copy.
 */
const optional = ['pg-native', 'cardinal', 'picomatch'];

/**
 * Packages that built files load by name but that are missing from an installation, because they're neither built in,
 * nor bundled, nor in `installed`. A file that loads such a package works in a checkout, which has all development
 * packages, but fails for users. Returns each package with the file that loads it. Doesn't find names that aren't
 * literals; test/architecture has a list of those.
 */
export function missingPackages(files: readonly BuiltFile[], installed: readonly string[]): string[] {
  const known = new Set([...installed, ...optional]);
  const missing = files.flatMap(({ fileName, code }) =>
    namesIn(parseAst(code) as unknown as AstNode)
      .filter((name) => !/^[./#]|^[a-z]+:\/\//.test(name) && !isBuiltin(name) && !known.has(packageOf(name) ?? ''))
      .map((name) => `${name} (loaded by ${fileName})`),
  );
  return [...new Set(missing)].sort();
}

/** The package to which a specifier refers; undefined if the specifier is a path. */
export function packageOf(specifier: string): string | undefined {
  return /^(@[^/]+\/)?[^./#\0][^/]*/.exec(specifier)?.[0];
}

/** All names that a module imports, requires or loads lazily as literals. */
function namesIn(node: AstNode): string[] {
  const names: string[] = [];
  const pending: unknown[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) pending.push(...next.filter((item) => item !== null));
    if (!isNode(next)) continue;
    const name = textOf(specifierOf(next));
    if (name !== undefined) names.push(name);
    pending.push(...Object.values(next).filter((member) => typeof member === 'object' && member !== null));
  }
  return names;
}

function specifierOf(node: AstNode): unknown {
  if (/^(Import|Export(All|Named))(Declaration|Expression)$/.test(node.type)) return node.source;
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return undefined;
  const [first, second] = node.arguments as unknown[];
  const { name } = node.callee;
  if (typeof name !== 'string') return undefined;
  // The bundler appends numbers to duplicate names.
  if (/^(__)?require(\$\d+)?$/.test(name)) return first;
  return /^late(\$\d+)?$/.test(name) ? second : undefined;
}

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const textOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
