/** Column names that have broken other programs. */
export const hostileNames: readonly string[] = [
  '__proto__',
  'constructor',
  'select',
  'a b',
  'a"b',
  "a'b",
  'a,b;c',
  '<b>&amp;',
  '1st',
  'naïve 😀',
];

/**
 * Values that have broken other programs: quotes, markup, line breaks, formulas, templates, text direction marks and
 * look-alikes.
 */
export const hostileValues: readonly string[] = [
  'plain',
  ' spaces around ',
  'quote " and \' and `',
  'comma, semicolon; bar| tab\there',
  'line\nfeed',
  'line\r\nend',
  '<b>&amp;</b> ]]> <!-- -->',
  '{"json": [1, null]}',
  "=cmd|' /C calc'!A0",
  "'; drop table orders; --",
  '\\ \\n \\u0000 %00 %s {0} {{ x }}',
  '$' + '{env:HOME}',
  'null',
  '007',
  'e\u0301 \u202e right \u200d 😀 \ufeff',
  '__proto__',
];
