import { isDigit, isE } from './json-tokens.ts';

/** Where the scanner stands between two bytes. */
export const value = 0;
export const valueOrEnd = 1;
export const keyOrEnd = 2;
export const key = 3;
export const colon = 4;
export const afterValue = 5;
export const inString = 6;
export const escaped = 7;
export const unicode = 8;
export const word = 9;
export const minus = 10;
export const zero = 11;
export const integer = 12;
export const point = 13;
export const fraction = 14;
export const exponent = 15;
export const exponentSign = 16;
export const exponentDigits = 17;
export const wrong = -1;

export const isInNumber = (state: number): boolean => state >= minus;

/** The state after one more byte of a number: `afterValue` when it ended before this byte, or `wrong`. */
export function nextInNumber(state: number, byte: number): number {
  const digit = isDigit(byte);
  switch (state) {
    case minus:
      return digit ? (byte === 0x30 ? zero : integer) : wrong;
    case zero:
    case integer:
      if (digit) return state === integer ? integer : wrong;
      if (byte === 0x2e) return point;
      return isE(byte) ? exponent : afterValue;
    case point:
      return digit ? fraction : wrong;
    case fraction:
      if (digit) return fraction;
      return isE(byte) ? exponent : afterValue;
    case exponent:
      if (byte === 0x2b || byte === 0x2d) return exponentSign;
      return digit ? exponentDigits : wrong;
    case exponentSign:
      return digit ? exponentDigits : wrong;
    default:
      return digit ? exponentDigits : afterValue;
  }
}
