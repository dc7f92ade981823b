import { advised } from '../lib/advice.ts';
import { redact } from '../lib/redact.ts';

/** A text of ours on its way out: commands as this user has to type them, secrets out. Rows and logs do not go through here. */
export function outward(text: string): string {
  return redact(advised(text));
}
