import { advised, advisedJson } from '../lib/advice.ts';
import { redact } from '../lib/redact.ts';

/**
 * Sanitizes our own text or JSON before it's printed: adds flags to suggested commands and redacts secrets. Don't use
 * it for rows or logs.
 */
export function sanitizeOutput(text: string): string {
  return redact(/^[[{]/.test(text) ? advisedJson(text) : advised(text));
}
