/** One link with its parameters. */
const links = /<([^>]*)>((?:\s*;\s*[^\s=;,]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;

/** Whether a Link header is a valid list of links (RFC 8288, 3) with any relations. */
export function isLinkHeader(text: string): boolean {
  return /^[\s,]*$/.test(text.replaceAll(links, ''));
}

/**
 * The raw target of `rel=next` in a Link header (RFC 8288). Targets may contain commas and semicolons, parameters may
 * be quoted, and a link may have several relations.
 */
export function nextLink(header: string | string[] | undefined): string | undefined {
  const text = [header ?? []].flat().join(', ');
  for (const [, target, parameters] of text.matchAll(links)) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters!);
    const names = (relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/);
    if (names.includes('next')) return target;
  }
  return undefined;
}
