import type { ASTNode } from '@marcbachmann/cel-js';
import type { Column } from '../../sdk/column.ts';

/** The columns that an expression uses, as determined by static analysis. */
export interface ColumnUse {
  /** Indexes of columns that the expression may read. */
  readonly columns: readonly number[];
  /** Index of the column if the expression is just a column. */
  readonly alone: number | undefined;
  /**
   * True if the expression always reads all its columns. If one of them is null, the result is null, so the expression
   * needn't be evaluated.
   */
  readonly strict: boolean;
}

const lenientOperators = new Set<string>(['||', '&&', '?:']);
const lenientCalls = new Set([
  'coalesce',
  'is_null',
  'null_if',
  'has',
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'bind',
]);

/** Determines which columns an expression reads, and how. */
export function columnUseOf(ast: ASTNode, columns: readonly Column[]): ColumnUse {
  const indexes = new Map(columns.map(({ name }, index) => [name, index]));
  const found = new Set<number>();
  let strict = true;
  walk(ast, (node) => {
    const index = columnOf(node, indexes);
    if (index !== undefined) found.add(index);
    if (isWholeRow(node)) for (const each of indexes.values()) found.add(each);
    if (isLenient(node)) strict = false;
  });
  return { columns: [...found], alone: columnOf(ast, indexes), strict };
}

/**
 * Visits every node, parents first. `row` with a literal key counts as a single column, so the nodes below it aren't
 * visited.
 */
export function walk(node: ASTNode, visit: (node: ASTNode) => void): void {
  visit(node);
  if (rowKey(node) !== undefined) return;
  for (const child of childrenOf(node.args)) walk(child, visit);
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function columnOf(node: ASTNode, indexes: ReadonlyMap<string, number>): number | undefined {
  const name = node.op === 'id' ? node.args : rowKey(node);
  return name === undefined || (name === 'row' && node.op === 'id') ? undefined : indexes.get(name);
}

/** Returns the column's name if the node is `row["name"]` or `row.name`. */
function rowKey(node: ASTNode): string | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [left, key] = node.args;
  if (left.op !== 'id' || left.args !== 'row') return undefined;
  if (typeof key === 'string') return key;
  return key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
}

function isWholeRow(node: ASTNode): boolean {
  return node.op === 'id' && node.args === 'row';
}

function isLenient(node: ASTNode): boolean {
  if (lenientOperators.has(node.op) || isWholeRow(node)) return true;
  return (node.op === 'call' || node.op === 'rcall') && lenientCalls.has(node.args[0]);
}
