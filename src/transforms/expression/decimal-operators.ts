import type { Environment } from '@marcbachmann/cel-js';
import { Decimal } from '../values/decimal.ts';
import { CellFault } from './cell-fault.ts';

type Operand = Decimal | bigint | number;

const arithmetic: Readonly<Record<string, (a: Decimal, b: Decimal) => Decimal>> = {
  '+': (a, b) => a.plus(b),
  '-': (a, b) => a.minus(b),
  '*': (a, b) => a.times(b),
  '/': (a, b) => a.dividedBy(notZero(b, 'division')),
  '%': (a, b) => a.remainder(notZero(b, 'modulo')),
};

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/**
 * Adds exact decimals to the language. If a decimal is combined with an int or a float, the other operand is converted
 * to a decimal. An int is converted exactly. A float is converted to the shortest digits that identify it, so that
 * `amount * 1.19` means what it says.
 */
export function registerDecimal(environment: Environment): void {
  environment.registerType('Decimal', { ctor: Decimal, fields: {} });
  environment.registerOperator('-Decimal', (a: Decimal) => a.negated());
  for (const [left, right] of [
    ['Decimal', 'Decimal'],
    ['Decimal', 'int'],
    ['int', 'Decimal'],
    ['Decimal', 'double'],
    ['double', 'Decimal'],
  ]) {
    for (const [op, work] of Object.entries(arithmetic))
      environment.registerOperator(`${left} ${op} ${right}: Decimal`, (a: Operand, b: Operand) =>
        work(decimalOf(a), decimalOf(b)),
      );
    for (const [op, holds] of Object.entries(comparisons))
      environment.registerOperator(`${left} ${op} ${right}: bool`, (a: Operand, b: Operand) =>
        holds(decimalOf(a).compare(decimalOf(b))),
      );
  }
  for (const right of ['Decimal', 'int', 'double'])
    environment.registerOperator(
      `Decimal == ${right}`,
      (a: Operand, b: Operand) => decimalOf(a).compare(decimalOf(b)) === 0,
    );
}

/**
 * Converts a number to a decimal. The conversion is exact, except that a float becomes the shortest digits that
 * identify it.
 */
export function decimalOf(value: Operand): Decimal {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return Decimal.ofInteger(value);
  const decimal = Decimal.ofFloat(value);
  if (decimal === undefined) throw new CellFault(`${value} is not a finite decimal`);
  return decimal;
}

function notZero(value: Decimal, what: string): Decimal {
  if (value.isZero) throw new CellFault(`${what} by zero`);
  return value;
}
