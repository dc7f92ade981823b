/**
 * Returns true if the value of an `If-None-Match` header names the ETag: in a list, as weak (proxies that compress the
 * response make it so), or by `*`. Source: RFC 9110, section 13.1.2.
 */
export function namesEtag(header: string | undefined, etag: string): boolean {
  const names = header?.split(',').map((name) => name.trim().replace(/^W\//, ''));
  return names?.some((name) => name === etag || name === '*') ?? false;
}
