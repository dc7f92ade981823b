import { SaxesParser, type SaxesTagPlain } from 'saxes';
import type { ArchiveMember } from './archive.ts';
import { openUtf8 } from './encoding.ts';
import { faultIn, type RecordInput } from './input.ts';
import { declaredEncoding } from './xml-text.ts';

type Attributes = Readonly<Record<string, string>>;

/**
 * `open` is called at the start of each element, `close` at its end with the text directly in the element. Names have
 * no prefix. `parent` is the parent element's name, or '' for the root.
 */
export interface Elements {
  open?(name: string, attributes: Attributes, parent: string): void;
  close?(name: string, text: string, parent: string): void;
}

/**
 * Walks a part's elements that are in its root's namespace. Extensions (`extLst` and elements in other namespaces, with
 * everything inside them) are skipped, because they may use the same names with different meanings (`x15:workbookPr`).
 */
export async function* walk(input: RecordInput, part: ArchiveMember, elements: Elements): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const spaces = new Namespaces();
  /** Name of each open element ('' if it's skipped), and its text so far. */
  const names: string[] = [];
  const texts: string[] = [];
  parser.on('error', (error) => {
    throw faultIn(input, {
      code: 'RECORDS_XLSX',
      message: `${part.name} in the workbook is not valid XML (${error.message})`,
    });
  });
  parser.on('opentag', ({ name, attributes }: SaxesTagPlain) => {
    const own = spaces.open(name, attributes);
    const parent = names.at(-1);
    const kept = parent === '' || own === 'extLst' ? '' : own;
    names.push(kept);
    texts.push('');
    if (kept !== '') elements.open?.(kept, attributes, parent ?? '');
  });
  const add = (text: string) => {
    texts[texts.length - 1] += text;
  };
  parser.on('text', (text) => texts.length > 0 && add(text));
  parser.on('cdata', add);
  parser.on('closetag', () => {
    spaces.close();
    const name = names.pop()!;
    const text = texts.pop()!;
    if (name !== '') elements.close?.(name, text, names.at(-1) ?? '');
  });
  for await (const chunk of openUtf8(asInput(input, part), {
    format: 'a part of a workbook',
    encoding: declaredEncoding,
  })) {
    parser.write(chunk.toString('utf8'));
    yield;
  }
  parser.close();
}

function asInput(input: RecordInput, part: ArchiveMember): RecordInput {
  const file = input.file === undefined ? {} : { file: input.file };
  return { name: `${input.name}, ${part.name}`, ...file, open: () => part.open() };
}

/** A name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Distinguishes elements of the root's namespace from others (Namespaces in XML 1.0). */
class Namespaces {
  /** One entry per element that declares namespaces, innermost last. */
  readonly #scopes: { readonly depth: number; readonly byPrefix: ReadonlyMap<string, string> }[] = [];
  #depth = 0;
  #root: string | undefined;
  /** Cache of the names in the current scope. */
  readonly #known = new Map<string, string>();

  /** Enters an element; returns its local name if it's in the root's namespace, otherwise ''. */
  open(name: string, attributes: Attributes): string {
    this.#depth++;
    this.#declare(attributes);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const space = this.#spaceOf(name);
    this.#root ??= space;
    const own = space === this.#root ? localName(name) : '';
    this.#known.set(name, own);
    return own;
  }

  /** Leaves the last entered element. */
  close(): void {
    if (this.#scopes.at(-1)?.depth === this.#depth) {
      this.#scopes.pop();
      this.#known.clear();
    }
    this.#depth--;
  }

  #declare(attributes: Attributes): void {
    let byPrefix: Map<string, string> | undefined;
    for (const name in attributes) {
      if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
      byPrefix ??= new Map();
      byPrefix.set(name.slice('xmlns:'.length), attributes[name]!);
    }
    if (byPrefix === undefined) return;
    this.#scopes.push({ depth: this.#depth, byPrefix });
    this.#known.clear();
  }

  #spaceOf(name: string): string {
    const prefix = name.slice(0, Math.max(0, name.indexOf(':')));
    return this.#scopes.findLast(({ byPrefix }) => byPrefix.has(prefix))?.byPrefix.get(prefix) ?? '';
  }
}
