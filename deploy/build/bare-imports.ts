import { isBuiltin } from 'node:module';
import { parseAst } from 'rolldown/parseAst';

/** A built file: its path in dist/ and its code. */
export interface BuiltFile {
  readonly fileName: string;
  readonly code: string;
}

interface AstNode {
  readonly type: string;
  readonly [member: string]: unknown;
}

/**
 * Packages that bundled code asks for in a `try` and does without. `pg-native`: used by `pg` if a user installed it.
 * `cardinal`: colors for `mysql2`'s debug output. `picomatch`: `fdir` looks for it; `tinyglobby` brings its own import of it.
 */
const optional = ['pg-native', 'cardinal', 'picomatch'];

/**
 * The packages that built files load by name and that an installation does not bring: neither built in, nor bundled, nor
 * in `installed`. Such a file works in a checkout, where all development packages lie around it, and fails for users.
 * Each is named with its file; a name that is not a literal is not seen here (test/architecture holds the list of those).
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

/** The package that a specifier is in; undefined for paths. */
export function packageOf(specifier: string): string | undefined {
  return /^(@[^/]+\/)?[^./#\0][^/]*/.exec(specifier)?.[0];
}

/** Every literal name that a module imports, requires or loads late. */
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
  // The bundler gives a second one of a name a number.
  if (/^(__)?require(\$\d+)?$/.test(name)) return first;
  return /^late(\$\d+)?$/.test(name) ? second : undefined;
}

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const textOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
