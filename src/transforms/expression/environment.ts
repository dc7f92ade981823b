import type { Environment } from '@marcbachmann/cel-js';
import { late } from '../../lib/late.ts';
import type { Cells } from '../../sdk/batch.ts';
import type { Column } from '../../sdk/column.ts';
import { registerDecimal } from './decimal-operators.ts';
import { registerFunctions } from './functions.ts';
import { registerMatches } from './matches.ts';
import { registerNullMacros } from './null-macros.ts';
import { nullTouched } from './null-touched.ts';
import { celTypes, readerOf } from './read-cell.ts';

const cel = late<typeof import('@marcbachmann/cel-js')>(import.meta.url, '@marcbachmann/cel-js');

/** The cursor from which variables are read. Updated for each batch and row, never reallocated. */
export class Cursor {
  cells: readonly Cells[] = [];
  stored = 0;
}

/** An environment for these columns, and the object from which its variables are read. */
export interface BoundColumns {
  readonly environment: Environment;
  readonly context: object;
  /** Columns whose names are reserved words, so they must be written `row["name"]`. */
  readonly hidden: readonly string[];
}

let shared: Environment | undefined;
let loose: Environment | undefined;

/** The language without columns: operators and functions. */
export function language(): Environment {
  shared ??= equipped(new (cel().Environment)());
  return shared;
}

/** The language with columns of any name and type, which is enough to detect unknown functions. */
export function looseLanguage(): Environment {
  loose ??= withNow(equipped(new (cel().Environment)({ unlistedVariablesAreDyn: true })), new Date(0));
  return loose;
}

function equipped(environment: Environment): Environment {
  registerDecimal(environment);
  registerFunctions(environment);
  registerNullMacros(environment);
  registerMatches(environment);
  return environment;
}

function withNow(environment: Environment, now: Date): Environment {
  environment.registerFunction('now(): google.protobuf.Timestamp', { handler: () => now, async: false });
  return environment;
}

/**
 * Columns as typed variables, and as fields of `row`. Both are getters that decode the cell under the cursor only when
 * an expression reads it. They're defined on objects without a prototype, so nothing else is accessible.
 */
export function bind(columns: readonly Column[], cursor: Cursor, now: Date): BoundColumns {
  const environment = withNow(language().clone(), now);
  const context: object = Object.create(null);
  const Row = class {};
  const fields: Record<string, string> = Object.create(null);
  const hidden: string[] = [];
  for (const [index, { name, type }] of columns.entries()) {
    const getter = getterOf(index, columns[index]!, cursor);
    // The library itself looks up this name on every object.
    if (name !== 'constructor') {
      fields[name] = celTypes[type];
      Object.defineProperty(Row.prototype, name, getter);
    }
    if (name !== 'row' && declared(environment, name, celTypes[type])) Object.defineProperty(context, name, getter);
    else hidden.push(name);
  }
  environment.registerType('Row', { ctor: Row, fields }).registerVariable('row', 'Row');
  Object.defineProperty(context, 'row', { value: new Row() });
  return { environment, context, hidden };
}

/** False if the name is a reserved word. */
function declared(environment: Environment, name: string, type: string): boolean {
  try {
    environment.registerVariable(name, type);
    return true;
  } catch {
    return false;
  }
}

function getterOf(index: number, { type }: Column, cursor: Cursor): PropertyDescriptor {
  const read = readerOf(type);
  return {
    get() {
      const value = read(cursor.cells[index]!, cursor.stored);
      if (value === null) throw nullTouched;
      return value;
    },
  };
}
