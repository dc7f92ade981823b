/** Formats numbers for people. With --json, numbers are printed unformatted. */

export { bytesText } from '../../lib/bytes-text.ts';
export { countOf, countText } from '../../lib/count-text.ts';
export { durationText, instantText } from '../../lib/time-text.ts';
