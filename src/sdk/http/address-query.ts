type Pairs = Iterable<readonly [name: string, value: string]>;

/**
 * Appends parameters to a URL without changing the existing ones, because a server may have signed them or may require
 * a literal comma or bracket. A space becomes `%20`, because the `+` used in forms (WHATWG URL, 5) is a plus sign in a
 * URI (RFC 3986), and strict servers, such as OData servers, reject it.
 */
export function addParameters(url: URL, pairs: Pairs): void {
  const added = [...pairs].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  if (added.length > 0) url.search = [...partsOf(url), ...added].join('&');
}

/** Sets a parameter. The URL then contains the parameter only once, after all others. */
export function setParameter(url: URL, name: string, value: string): void {
  const others = partsOf(url).filter((part) => !new URLSearchParams(part).has(name));
  url.search = [...others, `${encoded(name)}=${encoded(value)}`].join('&');
}

/**
 * Appends a query string that a user wrote. Encodes characters that aren't valid in a query, and any `%` that isn't
 * followed by two hex digits.
 */
export function addQuery(url: URL, written: string): void {
  if (written !== '') url.search = [...partsOf(url), written.replace(/%(?![\da-f]{2})/gi, '%25')].join('&');
}

function partsOf(url: URL): string[] {
  return url.search === '' ? [] : url.search.slice(1).split('&');
}

/** A lone surrogate can't be encoded, so it becomes the replacement character, as in forms. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
