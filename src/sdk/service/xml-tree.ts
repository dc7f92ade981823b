import { SaxesParser } from 'saxes';

interface Open {
  readonly members: Record<string, unknown>;
  text: string;
}

/**
 * An XML document as plain values: an element with nothing but text is that text, every other an object of its parts;
 * parts that repeat are lists, attributes are `@name`, text beside parts is `#text`. Prefixes are dropped (`soap:Body` is
 * `Body`), because vendors change them. Entities beyond XML's own five are refused.
 * @throws Error when the document is not well-formed.
 */
export function parseXml(text: string): unknown {
  const parser = new SaxesParser();
  const root: Open = { members: {}, text: '' };
  const open: Open[] = [root];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ attributes }) => {
    const named = Object.entries(attributes as Record<string, string>).filter(([name]) => !/^xmlns(?::|$)/.test(name));
    open.push({ members: Object.fromEntries(named.map(([name, value]) => [`@${local(name)}`, value])), text: '' });
  });
  const add = (piece: string) => {
    open.at(-1)!.text += piece;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', ({ name }) => {
    const done = open.pop()!;
    put(open.at(-1)!.members, local(name), valueOfElement(done));
  });
  parser.write(text).close();
  return root.members;
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function valueOfElement({ members, text }: Open): unknown {
  if (members['@nil'] === 'true') return null;
  if (Object.keys(members).length === 0) return text;
  return text.trim() === '' ? members : { ...members, '#text': text };
}

function put(members: Record<string, unknown>, name: string, value: unknown): void {
  if (!Object.hasOwn(members, name)) members[name] = value;
  else if (Array.isArray(members[name])) (members[name] as unknown[]).push(value);
  else members[name] = [members[name], value];
}
