/**
 * NameStartChar of XML 1.0, fifth edition, for use in a character class; without the colon and characters above U+FFFF.
 */
export const nameStart =
  'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd';
/** NameChar of XML 1.0, for use in a character class. It ends with a hyphen, so it must come last in the class. */
export const nameRest = `${nameStart}.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040-`;
const wholeName = new RegExp(`^[:${nameStart}][:${nameRest}]*$`, 'u');

/** Whether a string is a Name of XML 1.0, fifth edition, without characters above U+FFFF. */
export function isName(text: string): boolean {
  return wholeName.test(text);
}
