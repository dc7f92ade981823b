/** Numbers as people read them; machines get the raw ones through --json. */

export { bytesText } from '../lib/bytes-text.ts';
export { countOf, countText } from '../lib/count-text.ts';
export { durationText, instantText } from '../lib/time-text.ts';
