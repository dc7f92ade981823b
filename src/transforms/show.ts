import { redact } from '../lib/redact.ts';

/**
 * Formats a value for an error message. The value is quoted, its control characters are escaped, and it's truncated if
 * it's long.
 */
export function shown(text: string, most = 80): string {
  const quoted = redact(JSON.stringify(redact(text)));
  return quoted.length <= most ? quoted : `${quoted.slice(0, most)}… (${text.length} characters)`;
}
