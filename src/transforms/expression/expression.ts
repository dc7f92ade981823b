import type { ASTNode } from '@marcbachmann/cel-js';
import { Problem } from '../../lib/problem.ts';
import { type Batch, cellText } from '../../sdk/batch.ts';
import type { Column } from '../../sdk/column.ts';
import { shown } from '../show.ts';
import { isNull } from '../stored.ts';
import { type ColumnUse, columnUseOf, walk } from './ast.ts';
import { bind, Cursor, looseLanguage } from './environment.ts';
import { invalidExpression, meantFunction, syntaxFault, unknownFunction } from './invalid.ts';
import { nullTouched } from './null-touched.ts';
import { Refused } from './refused.ts';

/** An expression compiled for the columns of one run. */
export class Expression {
  readonly text: string;
  /** The CEL type of its value. */
  readonly type: string;
  readonly reading: ColumnUse;
  readonly #columns: readonly Column[];
  readonly #cursor: Cursor;
  readonly #evaluate: () => unknown;
  #before = 0;

  /** Throws a Problem of family `config` that points into the expression. `now` is the result of `now()`. */
  constructor(text: string, columns: readonly Column[], now: Date = new Date()) {
    const cursor = new Cursor();
    const { environment, context, hidden } = bind(columns, cursor, now);
    try {
      const parsed = environment.parse(text);
      const checked = parsed.check();
      if (!checked.valid) throw checked.error;
      refuseObjectAccess(parsed.ast as ASTNode);
      this.type = checked.type ?? 'dyn';
      this.reading = columnUseOf(parsed.ast as ASTNode, columns);
      this.#evaluate = () => parsed(context);
    } catch (thrown) {
      throw invalidExpression(thrown, { text, columns, hidden, environment });
    }
    this.text = text;
    this.#columns = columns;
    this.#cursor = cursor;
  }

  /** Sets the batch for {@link at}, and the number of rows that the run read before it. */
  enter(batch: Batch, before: number): void {
    this.#cursor.cells = batch.cells;
    this.#before = before;
  }

  /**
   * The value at a stored row; null if the expression read a null that it doesn't handle. Throws Problems of family
   * `row`.
   */
  at(stored: number): unknown {
    const cursor = this.#cursor;
    cursor.stored = stored;
    const { strict, columns } = this.reading;
    if (strict) for (const index of columns) if (isNull(cursor.cells[index]!, stored)) return null;
    try {
      return this.#evaluate();
    } catch (thrown) {
      if (thrown === nullTouched) return null;
      throw this.failed(thrown);
    }
  }

  /** The problem for the row under the cursor, with the values that the expression read. */
  failed(thrown: unknown): Problem {
    return new Problem({
      code: 'EXPRESSION_FAILED',
      family: 'row',
      message: `${shown(this.text)} failed: ${summaryOf(thrown)}`,
      where: { row: this.#before + this.#cursor.stored + 1 },
      seen: this.#seen(),
      cause: thrown,
    });
  }

  #seen(): string {
    const { cells, stored } = this.#cursor;
    return this.reading.columns
      .map((index) => {
        const { name, type } = this.#columns[index]!;
        const text = cellText(cells[index]!, type, stored);
        return `${name} = ${text === null ? 'null' : shown(text)}`;
      })
      .join(', ');
  }
}

/**
 * An error message if the expression doesn't parse or calls an unknown function; undefined if it's valid. Doesn't need
 * the columns.
 */
export function faultOf(text: string): string | undefined {
  const environment = looseLanguage();
  try {
    const { valid, error } = environment.parse(text).check();
    const name = valid ? undefined : unknownFunction(error, environment);
    if (name === undefined) return undefined;
    const meant = meantFunction(name, environment);
    return `The expression ${shown(text, 200)} calls "${name}", which is not a function${meant === undefined ? '' : `; ${meant}`}`;
  } catch (thrown) {
    return `${syntaxFault(thrown, text)}${hasAssignment(text) ? '; write == to compare' : ''}`;
  }
}

/** Whether there's a single `=` outside quotes, which usually means `==`. */
function hasAssignment(text: string): boolean {
  return /(?<![=!<>])=(?!=)/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""'));
}

/** The sentence in the library's error, without the expression and the arrow that the full message shows. */
function summaryOf(thrown: unknown): string {
  if (thrown instanceof Error) return 'summary' in thrown ? String(thrown.summary) : thrown.message;
  return String(thrown);
}

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
function refuseObjectAccess(ast: ASTNode): void {
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
