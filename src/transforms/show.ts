import { redact } from '../lib/redact.ts';

/** A value as a message shows it: in quotes, control characters escaped, cut where it is long. */
export function shown(text: string, most = 80): string {
  const quoted = redact(JSON.stringify(redact(text)));
  return quoted.length <= most ? quoted : `${quoted.slice(0, most)}… (${text.length} characters)`;
}
