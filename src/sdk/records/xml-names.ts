/** Namespace of each prefix; '' is the default namespace. */
export type XmlScope = ReadonlyMap<string, string>;

const xmlUri = 'http://www.w3.org/XML/1998/namespace';
const xsiUri = 'http://www.w3.org/2001/XMLSchema-instance';

/** The scope outside all elements. */
export const outermost: XmlScope = new Map([['xml', xmlUri]]);

/** Prefixes that SOAP libraries generate, which differ between documents or records. */
const generated = /^(?:ns|n|q|p|a|b|d\d+p)\d+$/;

/** A name in a document, split into its parts. */
export interface XmlName {
  readonly prefix: string;
  readonly local: string;
  /** The namespace; an undeclared prefix counts as its own namespace. */
  readonly uri: string;
}

/**
 * The scope inside an element with these attributes. If the attributes declare no namespaces, the scope is unchanged.
 */
export function scopeInside(scope: XmlScope, attributes: Readonly<Record<string, string>>): XmlScope {
  let inner: Map<string, string> | undefined;
  for (const name in attributes) {
    if (!isDeclaration(name)) continue;
    inner ??= new Map(scope);
    inner.set(name.slice(6), attributes[name]!);
  }
  return inner ?? scope;
}

/** Whether an attribute declares a namespace. */
export function isDeclaration(attribute: string): boolean {
  return attribute === 'xmlns' || attribute.startsWith('xmlns:');
}

/** The name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/**
 * The namespace of an element or, with `isAttribute`, of an attribute. An attribute without a prefix has no namespace.
 */
export function nameIn(scope: XmlScope, raw: string, isAttribute = false): XmlName {
  const at = raw.indexOf(':');
  const prefix = at < 0 ? '' : raw.slice(0, at);
  const unbound = prefix === '' ? '' : `?${prefix}`;
  const uri = prefix === '' && isAttribute ? '' : (scope.get(prefix) ?? unbound);
  return { prefix, local: raw.slice(at + 1), uri };
}

/** Whether an attribute is `xsi:nil`, which can declare that its element is null (XML Schema 1.0, 2.6.2). */
export function isNil({ local, uri }: XmlName): boolean {
  return local === 'nil' && (uri === xsiUri || uri === '?xsi');
}

/**
 * The column names of elements and attributes. Prefixes aren't significant: a column name has no prefix if it's in the
 * records' namespace; otherwise, it has the prefix that the data first used for its namespace. So the columns stay the
 * same even if a server changes the prefixes, or generates new ones for each record.
 */
export class XmlNames {
  /** The records' namespace. */
  recordUri = '';
  readonly #prefixes = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** The namespace in which a name was first seen, for names with generated prefixes. */
  readonly #plain = new Map<string, string>();

  shown({ prefix, local, uri }: XmlName): string {
    if (prefix === '') return local;
    if (uri === this.recordUri) return local;
    if (generated.test(prefix)) {
      const owner = this.#plain.get(local);
      if (owner === undefined) this.#plain.set(local, uri);
      if (owner === undefined || owner === uri) return local;
    }
    return `${this.#prefixes.get(uri) ?? this.#prefixFor(uri, prefix)}:${local}`;
  }

  /** The prefix, plus a number if the prefix is already bound to another namespace. */
  #prefixFor(uri: string, prefix: string): string {
    let free = prefix;
    for (let n = 2; this.#taken.has(free); n++) free = `${prefix}_${n}`;
    this.#taken.add(free);
    this.#prefixes.set(uri, free);
    return free;
  }
}
