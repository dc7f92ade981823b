import type { Environment } from '@marcbachmann/cel-js';
import { cutText } from '../../lib/redact.ts';
import { Decimal } from '../values/decimal.ts';
import { CellFault } from './cell-fault.ts';
import { decimalOf } from './decimal-operators.ts';
import type { Define } from './define.ts';
import { registerTimeFunctions } from './time-functions.ts';

const maxTexts = 8;
const maxDigits = 100n;
const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** Adds functions for working with data to the language. The functions have access only to their arguments. */
export function registerFunctions(environment: Environment): void {
  const define = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, { handler: handler as (...args: unknown[]) => unknown, async: false });
  registerText(define);
  registerNumbers(define);
  registerTimeFunctions(define);
}

function registerText(define: Define): void {
  define('lower(string): string', (text: string) => text.toLowerCase());
  define('upper(string): string', (text: string) => text.toUpperCase());
  define('trim(string): string', (text: string) => text.trim());
  define('replace(string, string, string): string', (text: string, old: string, by: string) =>
    text.replaceAll(old, () => by),
  );
  define('substring(string, int): string', (text: string, from: bigint) => partOf(text, from));
  define('substring(string, int, int): string', (text: string, from: bigint, to: bigint) => partOf(text, from, to));
  for (let count = 2; count <= maxTexts; count++)
    define(`concat(${Array(count).fill('string').join(', ')}): string`, (...texts: string[]) => texts.join(''));
}

/**
 * Returns the characters from index `from` (inclusive) to index `to` (exclusive). Indexes start at 0 and are limited to
 * the string's length.
 */
function partOf(text: string, from: bigint, to: bigint = BigInt(text.length)): string {
  const [start, end] = [from, to].map((at) => Number(at < 0n ? 0n : at));
  // Count code points, so that no character is split. This makes a difference only for characters outside the Basic
  // Multilingual Plane.
  const whole = /[\ud800-\udfff]/.test(text) ? [...text] : text;
  return typeof whole === 'string' ? whole.slice(start, end) : whole.slice(start, end).join('');
}

function registerNumbers(define: Define): void {
  define('decimal(Decimal): Decimal', (value: Decimal) => value);
  define('decimal(int): Decimal', decimalOf);
  define('decimal(double): Decimal', decimalOf);
  define('decimal(string): Decimal', decimalOfText);
  define('int(Decimal): int', (value: Decimal) => wholeOf(value.truncated()));
  define('double(Decimal): double', (value: Decimal) => value.toNumber());
  define('string(Decimal): string', String);
  for (const type of ['Decimal', 'double', 'int']) registerRounding(define, type);
}

function registerRounding(define: Define, type: string): void {
  const back = (value: Decimal) => {
    if (type === 'Decimal') return value;
    return type === 'int' ? wholeOf(value.truncated()) : value.toNumber();
  };
  const each = (name: string, work: (value: Decimal) => Decimal) =>
    define(`${name}(${type}): ${type}`, (value: number) => back(work(decimalOf(value))));
  each('abs', (value) => (value.compare(zero) < 0 ? value.negated() : value));
  each('round', (value) => value.rounded(0));
  each('floor', (value) => towards(value, (truncated) => value.compare(truncated) < 0, minusOne));
  each('ceil', (value) => towards(value, (truncated) => value.compare(truncated) > 0, one));
  define(`round(${type}, int): ${type}`, (value: number, digits: bigint) =>
    back(decimalOf(value).rounded(digitsOf(digits))),
  );
}

const zero = new Decimal(0, 0);
const one = new Decimal(1, 0);
const minusOne = new Decimal(-1, 0);

function towards(value: Decimal, missed: (truncated: Decimal) => boolean, step: Decimal): Decimal {
  const truncated = Decimal.ofInteger(value.truncated());
  return missed(truncated) ? truncated.plus(step) : truncated;
}

function digitsOf(digits: bigint): number {
  if (digits > maxDigits || digits < -maxDigits) throw new CellFault(`round takes at most ${maxDigits} digits`);
  return Number(digits);
}

function decimalOfText(text: string): Decimal {
  const value = Decimal.parse(text.trim().replace(/^\+/, ''));
  if (value === undefined) throw new CellFault(`decimal() cannot read ${JSON.stringify(cutText(text, 40))}`);
  return value;
}

function wholeOf(value: bigint): bigint {
  if (value < int64.least || value > int64.most) throw new CellFault(`integer overflow: ${value}`);
  return value;
}
