import { excerpt, redact } from '../../lib/redact.ts';
import { soapFaultIn } from './soap-fault.ts';

/** Maximum length of a server message in a problem. */
const maxCharacters = 200;

/** What a server says in an answer that is no good, for a person to read: secrets out, in one line, a page or a SOAP fault without its tags. */
export function messageIn(text: string): string {
  // Before the tags go as well: a secret with such signs in it would be taken apart, and then not be known any more.
  const clean = redact(text);
  const fault = soapFaultIn(clean);
  if (fault !== undefined) return excerpt(`SOAP fault ${fault.said}`, maxCharacters);
  const words = /^\s*<(?:!doctype html|html)/i.test(clean) ? `a page: ${withoutTags(clean)}` : clean;
  return excerpt(words, maxCharacters);
}

/** Styles and scripts are no words; of a head, the title says what the page says. */
function withoutTags(page: string): string {
  return page.replaceAll(/<(style|script)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replaceAll(/<[^>]*>?/g, ' ');
}
