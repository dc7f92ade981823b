import { nameRest, nameStart } from '../lib/xml-name.ts';

const startsLikeName = new RegExp(`^[${nameStart}]`, 'u');
const notInName = new RegExp(`[^${nameRest}]`, 'gu');

/**
 * The element name for a column. Every character that isn't allowed in XML 1.0 names becomes `_`; so do the colon,
 * because it would separate a namespace prefix, and characters beyond U+FFFF, because widespread parsers reject them in
 * names. If the result doesn't start like a name, or starts with `xml` in any letter case (which the standard
 * reserves), `_` is put before it; the empty name becomes `_`.
 */
export function elementName(name: string): string {
  const carried = name.replaceAll(notInName, '_');
  return startsLikeName.test(carried) && !/^xml/i.test(carried) ? carried : `_${carried}`;
}
