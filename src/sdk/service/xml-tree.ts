import { SaxesParser } from 'saxes';

/** Maximum nesting depth of elements, because code that walks the values may be recursive. */
const maxDepth = 256;

interface Open {
  readonly name: string;
  readonly members: Record<string, unknown>;
  text: string;
}

/**
 * Parses an XML document to plain values: an element with only text becomes a string, and any other element becomes an
 * object with its children. Repeated children become lists, attributes become `@name`, and text next to children
 * becomes `#text`. Prefixes are dropped (`soap:Body` is `Body`), because vendors change them. Entities other than the
 * five predefined ones are rejected.
 * @throws Error if the document is not well-formed.
 */
export function parseXml(text: string): unknown {
  const tree = new Tree();
  tree.write(text);
  tree.end();
  return tree.members;
}

/** A matching element, in the format of {@link parseXml}. */
export interface XmlPart {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Streams the elements with these names from an XML document (UTF-8) of any size. If matching elements are nested, the
 * inner one is a child of the outer one.
 * @throws Error if the document is not well-formed.
 */
export async function* xmlParts(
  bytes: AsyncIterable<Uint8Array>,
  names: readonly string[],
): AsyncGenerator<XmlPart, void> {
  const tree = new Tree(new Set(names));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of bytes) {
    tree.write(decoder.decode(piece, { stream: true }));
    yield* tree.taken();
  }
  tree.write(decoder.decode());
  tree.end();
  yield* tree.taken();
}

/** Builds the tree incrementally. If names are given, it keeps only elements with these names. */
class Tree {
  readonly members: Record<string, unknown> = {};
  readonly #parser = new SaxesParser();
  readonly #open: Open[] = [{ name: '', members: this.members, text: '' }];
  readonly #wanted: ReadonlySet<string> | undefined;
  /** Depth inside the current matching element; 0 outside a matching element. */
  #inside = 0;
  #parts: XmlPart[] = [];

  constructor(wanted?: ReadonlySet<string>) {
    this.#wanted = wanted;
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name, attributes }) => this.#enter(local(name), attributes as Record<string, string>));
    const add = (piece: string) => {
      if (this.#keeps) this.#open.at(-1)!.text += piece;
    };
    parser.on('text', add);
    parser.on('cdata', add);
    parser.on('closetag', () => this.#leave());
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): void {
    this.#parser.close();
  }

  /** The matching elements found since the last call. */
  taken(): XmlPart[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  get #keeps(): boolean {
    return this.#wanted === undefined || this.#inside > 0;
  }

  #enter(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#open.length > maxDepth) {
      const { line, column } = this.#parser;
      throw new Error(`${line}:${column}: element ${name} is nested more than ${maxDepth} levels deep`);
    }
    if (this.#inside === 0 && this.#wanted?.has(name) === true) this.#inside = this.#open.length;
    const named = Object.entries(attributes).filter(([one]) => !/^xmlns(?::|$)/.test(one));
    this.#open.push({ name, members: Object.fromEntries(named.map(([one, v]) => [`@${local(one)}`, v])), text: '' });
  }

  #leave(): void {
    const done = this.#open.pop()!;
    if (!this.#keeps) return;
    if (this.#inside !== this.#open.length) {
      putMember(this.#open.at(-1)!.members, done.name, valueOfElement(done));
      return;
    }
    this.#inside = 0;
    this.#parts.push({ name: done.name, value: valueOfElement(done) });
  }
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The value of an element, in the format of {@link parseXml}. */
export function valueOfElement({ members, text }: Pick<Open, 'members' | 'text'>): unknown {
  if (members['@nil'] === 'true') return null;
  if (Object.keys(members).length === 0) return text;
  return text.trim() === '' ? members : { ...members, '#text': text };
}

/** Adds a child element to its parent's members. */
export function putMember(members: Record<string, unknown>, name: string, value: unknown): void {
  if (!Object.hasOwn(members, name)) members[name] = value;
  else if (Array.isArray(members[name])) (members[name] as unknown[]).push(value);
  else members[name] = [members[name], value];
}
