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

/** NameStartChar of XML 1.0, fifth edition, without the colon and without what lies beyond U+FFFF. */
const start =
  'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd';
const startsLikeName = new RegExp(`^[${start}]`, 'u');
const notInName = new RegExp(`[^${start}.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040-]`, 'gu');
const allName = new RegExp(`^[:${start}][:${start}.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040-]*$`, 'u');

/** Whether this is a Name of XML 1.0, fifth edition, and has no character beyond U+FFFF. */
export function isName(text: string): boolean {
  return allName.test(text);
}
