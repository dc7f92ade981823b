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

/** An expression that has been compiled for the columns of one run. */
export class Expression {
  readonly text: string;
  /** The CEL type of its value. */
  readonly type: string;
  readonly reading: ColumnUse;
  readonly #columns: readonly Column[];
  readonly #cursor: Cursor;
  readonly #evaluate: () => unknown;
  #before = 0;

  /**
   * Compiles the expression. Throws a Problem of the `config` family that points to the error's position in the
   * expression. `now` is the value that `now()` returns.
   */
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

  /** Sets the batch that {@link at} reads. `before` is the number of rows that the run has read before this batch. */
  enter(batch: Batch, before: number): void {
    this.#cursor.cells = batch.cells;
    this.#before = before;
  }

  /**
   * Evaluates the expression for a stored row. Returns null if the expression reads a null that it doesn't handle.
   * Throws Problems of the `row` family.
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

  /** Creates the Problem for the row at the cursor. It contains the values that the expression read. */
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
 * Returns an error message if the expression has a syntax error or calls an unknown function, and otherwise undefined.
 * Doesn't need the columns.
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

/** Returns whether the expression contains a single `=` outside quotes. The author usually meant `==`. */
function hasAssignment(text: string): boolean {
  return /(?<![=!<>])=(?!=)/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""'));
}

/**
 * Returns the summary of the library's error, without the expression and the arrow below it, which the full message
 * contains.
 */
function summaryOf(thrown: unknown): string {
  if (thrown instanceof Error) return 'summary' in thrown ? String(thrown.summary) : thrown.message;
  return String(thrown);
}

/** The type that the library's checker stores in a node. The library's type declarations don't include it. */
interface CheckedType {
  readonly kind: string;
  readonly name: string;
}

/**
 * Throws if the expression reads a field that isn't data. For instants, durations and values of unknown type, the
 * library reads fields directly from the JavaScript object, including its prototype. Such fields can't be called, but
 * they aren't data either, so the expression is rejected before the first row. `has()` on a column is rejected too.
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

/**
 * Returns whether the node checks if a column exists, such as `has(row.note)`. The result would be true for every row.
 */
function asksForColumn(node: ASTNode): boolean {
  if (node.op !== 'call' || node.args[0] !== 'has') return false;
  const [asked] = node.args[1];
  return asked?.op === '.' && asked.args[0].op === 'id' && asked.args[0].args === 'row';
}

function typeOf(node: ASTNode): CheckedType {
  return (node as ASTNode & { checkedType?: CheckedType }).checkedType ?? { kind: 'dyn', name: 'dyn' };
}
