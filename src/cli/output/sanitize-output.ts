import { advised, advisedJson } from '../../lib/advice.ts';
import { redact } from '../../lib/redact.ts';

/**
 * Sanitizes Sluice's own text or JSON before it's printed: adds flags to suggested commands and redacts secrets. Don't
 * use this function for rows or logs.
 */
export function sanitizeOutput(text: string): string {
  return redact(/^[[{]/.test(text) ? advisedJson(text) : advised(text));
}
