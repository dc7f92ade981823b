import { redact } from '../lib/redact.ts';

/** Formats a value for a message: quoted, control characters escaped, truncated if long. */
export function shown(text: string, most = 80): string {
  const quoted = redact(JSON.stringify(redact(text)));
  return quoted.length <= most ? quoted : `${quoted.slice(0, most)}… (${text.length} characters)`;
}
