import type { CellType } from './cells.ts';

/**
 * Parses PostgreSQL's array text (`{1,NULL,"a \"b\""}`, nested, with or without bounds as in `[0:1]={1,2}`) and writes
 * it as a JSON array. Numbers keep their digits. `NaN` and `Infinity` become strings, because JSON doesn't have them.
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
 */
export function arrayReader(element: CellType, delimiter: string) {
  const write = elementWriter(element);
  return (bytes: Buffer, start: number, end: number): string => {
    const text = bytes.toString('utf8', start, end);
    const open = text.indexOf('{');
    return arrayJson(text.slice(open), delimiter, write);
  };
}

function arrayJson(text: string, delimiter: string, write: (element: string) => string): string {
  let json = '';
  for (let i = 0; i < text.length; ) {
    const character = text[i]!;
    if (character === '{' || character === '}') {
      json += character === '{' ? '[' : ']';
      i++;
    } else if (character === delimiter) {
      json += ',';
      i++;
    } else if (character === '"') {
      const end = closingQuote(text, i);
      json += write(text.slice(i + 1, end).replaceAll(/\\(.)/gs, '$1'));
      i = end + 1;
    } else {
      const end = endOfBare(text, i, delimiter);
      const bare = text.slice(i, end);
      json += bare === 'NULL' ? 'null' : write(bare.replaceAll(/\\(.)/gs, '$1'));
      i = end;
    }
  }
  return json;
}

function closingQuote(text: string, open: number): number {
  let i = open + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

function endOfBare(text: string, start: number, delimiter: string): number {
  let i = start;
  while (i < text.length && text[i] !== delimiter && text[i] !== '}') i += text[i] === '\\' ? 2 : 1;
  return i;
}

function elementWriter({ type, fix }: CellType): (element: string) => string {
  if (type === 'json' && fix === undefined) return (element) => element;
  if (type === 'integer' || type === 'decimal' || type === 'float') {
    return (element) => (/^-?\d/.test(element) ? element : JSON.stringify(element));
  }
  if (fix === undefined) return JSON.stringify;
  if (fix.how === 'boolean') return (element) => String(fix.isTrue(Buffer.from(element), 0, element.length));
  // If the elements' type is a domain over an array, each element is itself an array.
  if (type === 'json') return (element) => fixed(element, fix);
  return (element) => JSON.stringify(fixed(element, fix));
}

/** Converts one array element as if it were a cell. */
function fixed(element: string, fix: Exclude<CellType['fix'], undefined | { how: 'boolean' }>): string {
  const bytes = Buffer.from(element);
  if (fix.how === 'rewrite') return fix.text(bytes, 0, bytes.length);
  const spans = Int32Array.of(0, bytes.length);
  fix.fix(bytes, spans, 0);
  return bytes.toString('utf8', spans[0], spans[1]);
}
