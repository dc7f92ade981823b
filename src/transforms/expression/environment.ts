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

/**
 * The position from which variables are read. It's updated for each batch and each row, and never replaced by another
 * object.
 */
export class Cursor {
  cells: readonly Cells[] = [];
  stored = 0;
}

/** The environment for a run's columns, and the object from which its variables are read. */
export interface BoundColumns {
  readonly environment: Environment;
  readonly context: object;
  /**
   * Names of the columns that can't be used as variables because their names are reserved words. They must be written
   * as `row["name"]`.
   */
  readonly hidden: readonly string[];
}

let shared: Environment | undefined;
let loose: Environment | undefined;

/** Returns the language without columns. It contains the operators and functions. */
export function language(): Environment {
  shared ??= equipped(new (cel().Environment)());
  return shared;
}

/** Returns the language with columns of any name and type. This is sufficient to detect unknown functions. */
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
 * Makes columns available as typed variables and as fields of `row`. Both are getters, which decode the cell at the
 * cursor only when an expression reads it. The object with the variables has no prototype, so expressions can't read
 * anything else.
 */
export function bind(columns: readonly Column[], cursor: Cursor, now: Date): BoundColumns {
  const environment = withNow(language().clone(), now);
  const context: object = Object.create(null);
  const Row = class {};
  const fields: Record<string, string> = Object.create(null);
  const hidden: string[] = [];
  for (const [index, { name, type }] of columns.entries()) {
    const getter = getterOf(index, columns[index]!, cursor);
    // The library itself looks up `constructor` on every object, so no field may have this name.
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

/** Declares a variable. Returns false if its name is a reserved word. */
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
