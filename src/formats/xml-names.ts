import { nameRest, nameStart } from '../lib/xml-name.ts';

const startsLikeName = new RegExp(`^[${nameStart}]`, 'u');
const notInName = new RegExp(`[^${nameRest}]`, 'gu');

/**
 * The element name for a column: every character that an XML 1.0 name cannot hold becomes `_`, the colon too because it
 * would be read as a namespace prefix, and characters beyond U+FFFF because widespread parsers refuse them in names. A
 * name that would not start like a name, or that starts with `xml` in any case (which the standard reserves), gets a `_`
 * in front; the empty name becomes `_`.
 */
export function elementName(name: string): string {
  const carried = name.replaceAll(notInName, '_');
  return startsLikeName.test(carried) && !/^xml/i.test(carried) ? carried : `_${carried}`;
}
