import { nameRest, nameStart } from '../lib/xml-name.ts';

const startsLikeName = new RegExp(`^[${nameStart}]`, 'u');
const notInName = new RegExp(`[^${nameRest}]`, 'gu');

/** Matches a character that XML 1.0 can't represent at all, neither in names nor in values (section 2.2). */
export const notInXml = /[\p{Cs}\ufffe\uffff]|(?![\t\n\r\u007f-\u009f])\p{Cc}/u;

/**
 * The element name for a column. Every character that isn't allowed in XML 1.0 names becomes `_`. The same applies to
 * the colon, which separates a namespace prefix, and to characters beyond U+FFFF, which common parsers reject in names.
 * A result that doesn't start like a name, or starts with `xml` in any case (which the standard reserves), gets the
 * prefix `_`; an empty name becomes `_`.
 */
export function elementName(name: string): string {
  const carried = name.replaceAll(notInName, '_');
  return startsLikeName.test(carried) && !/^xml/i.test(carried) ? carried : `_${carried}`;
}
