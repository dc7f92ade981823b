import { advised, advisedJson } from '../lib/advice.ts';
import { redact } from '../lib/redact.ts';

/** Sanitizes our own text or JSON before output: adds flags to commands, and redacts secrets. Not for rows and logs. */
export function sanitizeOutput(text: string): string {
  return redact(/^[[{]/.test(text) ? advisedJson(text) : advised(text));
}
