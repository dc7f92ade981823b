import { excerpt, redact } from '../../lib/redact.ts';
import { soapFaultIn } from './soap-fault.ts';

/** Maximum length of a server message that a problem quotes. */
const maxCharacters = 200;

/** An error response's message as shown to users: redacted, on one line, and without HTML or SOAP tags. */
export function messageIn(text: string): string {
  // Redact before removing the tags: otherwise, a secret that contains `<` or `>` would be split and not be recognized.
  const clean = redact(text);
  const fault = soapFaultIn(clean);
  if (fault !== undefined) return excerpt(`SOAP fault ${fault.summary}`, maxCharacters);
  const words = /^\s*<(?:!doctype html|html)/i.test(clean) ? `a page: ${withoutTags(clean)}` : clean;
  return excerpt(words, maxCharacters);
}

/** Drops styles and scripts, and everything in the head except the title's text. */
function withoutTags(page: string): string {
  return page.replaceAll(/<(style|script)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replaceAll(/<[^>]*>?/g, ' ');
}
