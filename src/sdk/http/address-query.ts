type Pairs = Iterable<readonly [name: string, value: string]>;

/**
 * Adds parameters behind those that an address has, which keep their spelling: a server may have signed them, or may want
 * a comma or a bracket as it is. A blank becomes `%20`: the `+` of forms (WHATWG URL, 5) is a plus in a URI (RFC 3986), and strict
 * servers, such as those of OData, refuse it.
 */
export function addParameters(url: URL, pairs: Pairs): void {
  const added = [...pairs].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  if (added.length > 0) url.search = [...partsOf(url), ...added].join('&');
}

/** Sets a parameter: it then stands once, behind the others. */
export function setParameter(url: URL, name: string, value: string): void {
  const others = partsOf(url).filter((part) => !new URLSearchParams(part).has(name));
  url.search = [...others, `${encoded(name)}=${encoded(value)}`].join('&');
}

/** Adds a query as a person wrote it. What is no character of a query is encoded, a `%` without digits as well. */
export function addQuery(url: URL, written: string): void {
  if (written !== '') url.search = [...partsOf(url), written.replace(/%(?![\da-f]{2})/gi, '%25')].join('&');
}

function partsOf(url: URL): string[] {
  return url.search === '' ? [] : url.search.slice(1).split('&');
}

/** A lone surrogate has no encoding: it becomes the replacement character, as in forms. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
