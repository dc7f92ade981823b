/** Whether a string is an integer in JSON syntax: no plus sign, no leading zeros. */
export function isInteger(text: string): boolean {
  const start = text.charCodeAt(0) === 45 ? 1 : 0;
  const end = digitsEnd(text, start);
  return end > start && end === text.length && (end === start + 1 || text.charCodeAt(start) !== 48);
}

/** Whether a string is a number in JSON syntax, or one of the three values that JSON can't represent. */
export function isNumber(text: string): boolean {
  if (isInteger(text)) return true;
  const start = text.charCodeAt(0) === 45 ? 1 : 0;
  const point = digitsEnd(text, start);
  if (text.charCodeAt(point) !== 46) return otherNumber.test(text);
  const leadingZero = point > start + 1 && text.charCodeAt(start) === 48;
  const end = digitsEnd(text, point + 1);
  if (point === start || leadingZero || end === point + 1) return false;
  return end === text.length || otherNumber.test(text);
}

/** Numbers with an exponent and non-finite ones are rare, so a regular expression is fast enough. */
const otherNumber = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]+$|^(NaN|-?Infinity)$/;

function digitsEnd(text: string, start: number): number {
  let k = start;
  for (; k < text.length; k++) {
    const code = text.charCodeAt(k);
    if (code < 48 || code > 57) break;
  }
  return k;
}

/** Whether a string is one JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
