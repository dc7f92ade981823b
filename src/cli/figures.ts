export { durationText, instantText } from '../lib/time-text.ts';

/** Numbers as people read them; machines get the raw ones through --json. */

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Bytes with three significant digits, powers of 1000: `1.46 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return unit === 0 ? `${value} B` : `${value.toPrecision(3)} ${units[unit]}`;
}

/** Whole numbers with thin grouping: `1 000 000`. */
export function countText(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
}
