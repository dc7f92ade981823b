/**
 * Yields the JSON text of each item of a list, one at a time, so that a long list is never in memory as values. Throws a
 * SyntaxError if the text isn't a list. The items themselves aren't validated: parsing them does that.
 */
export function* jsonItems(text: string): Generator<string> {
  const list = text.trim();
  if (list[0] !== '[') throw new SyntaxError('not a list');
  let start = 1;
  for (let end = itemEnd(list, start); ; end = itemEnd(list, start)) {
    const item = list.slice(start, end).trim();
    const isLast = list[end] === ']';
    if (isLast && end !== list.length - 1) throw new SyntaxError('more text after the list');
    if (item === '' && isLast && start === 1) return;
    yield item;
    if (isLast) return;
    start = end + 1;
  }
}

/** Position of the comma or bracket that ends the item. */
function itemEnd(text: string, start: number): number {
  for (let at = start, depth = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at + 1);
    else if (character === '[' || character === '{') depth++;
    else if (depth > 0) depth -= character === ']' || character === '}' ? 1 : 0;
    else if (character === ',' || character === ']') return at;
  }
  throw new SyntaxError('the list has no end');
}

/** Position of a string's closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
