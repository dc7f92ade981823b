/** Formats numbers for people; with --json, numbers are raw. */

export { bytesText } from '../lib/bytes-text.ts';
export { countOf, countText } from '../lib/count-text.ts';
export { durationText, instantText } from '../lib/time-text.ts';
