import { advised, advisedJson } from '../lib/advice.ts';
import { redact } from '../lib/redact.ts';

/**
 * A text or a JSON document of ours on its way out: commands as this user has to type them, secrets out. Rows and logs do not go
 * through here.
 */
export function sanitizeOutput(text: string): string {
  return redact(/^[[{]/.test(text) ? advisedJson(text) : advised(text));
}
