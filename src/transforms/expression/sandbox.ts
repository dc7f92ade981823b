import type { ASTNode } from '@marcbachmann/cel-js';
import { walk } from './ast.ts';
import { Refused } from './refused.ts';

/** The checker's annotation on a node, which the library doesn't declare. */
interface CheckedType {
  readonly kind: string;
  readonly name: string;
}

/**
 * The library reads fields of instants, durations and values of unknown type directly from the JavaScript object,
 * including its prototype. Nothing there can be called, but it isn't data either, so such reads are rejected before the
 * first row, as is `has()` on a column. Throws at the first such read.
 */
export function refuseObjectAccess(ast: ASTNode): void {
  walk(ast, (node) => {
    if (asksForColumn(node)) throw new Refused('every row has every column: use is_null() instead of has()', node);
    if (node.op !== '.' && node.op !== '[]' && node.op !== '.?' && node.op !== '[?]') return;
    const [left, key] = node.args;
    const type = typeOf(left);
    if (type.kind === 'message' && type.name !== 'Row')
      throw new Refused(`a value of type ${type.name} has no fields`, node);
    if (type.kind !== 'dyn') return;
    const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
    if (name === '__proto__') throw new Refused('no field may be named __proto__', node);
    if (name === undefined && typeof key !== 'string' && typeOf(key).name !== 'int')
      throw new Refused('if the type is unknown, a key must be a literal or an int', node);
  });
}

/** `has(row.note)` would be true for every row. */
function asksForColumn(node: ASTNode): boolean {
  if (node.op !== 'call' || node.args[0] !== 'has') return false;
  const [asked] = node.args[1];
  return asked?.op === '.' && asked.args[0].op === 'id' && asked.args[0].args === 'row';
}

function typeOf(node: ASTNode): CheckedType {
  return (node as ASTNode & { checkedType?: CheckedType }).checkedType ?? { kind: 'dyn', name: 'dyn' };
}
