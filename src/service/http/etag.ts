import { preconditionFailed } from './api-error.ts';

/** Conditions of a request that replaces data. The values are those of the `If-Match` and `If-None-Match` headers. */
export interface WriteConditions {
  readonly match?: string | undefined;
  readonly noneMatch?: string | undefined;
}

/**
 * Returns true if the value of an `If-None-Match` header names the ETag: in a list, as weak (proxies that compress the
 * response make it so), or by `*`. Source: RFC 9110, section 13.1.2.
 */
export function namesEtag(header: string | undefined, etag: string): boolean {
  const names = header?.split(',').map((name) => name.trim().replace(/^W\//, ''));
  return names?.some((name) => name === etag || name === '*') ?? false;
}

/**
 * Throws an ApiError (412) if a condition isn't met. `etag` is undefined if there's no data yet. Source: RFC 9110,
 * section 13.2.2.
 */
export function requireMet({ match, noneMatch }: WriteConditions, etag: string | undefined): void {
  const names = match?.split(',').map((name) => name.trim());
  const isSame = names === undefined || (etag !== undefined && names.some((name) => name === etag || name === '*'));
  if (!isSame)
    throw preconditionFailed(`If-Match: the data has ${etag === undefined ? 'no ETag' : `the ETag ${etag}`}`);
  if (etag !== undefined && namesEtag(noneMatch, etag)) {
    throw preconditionFailed(`If-None-Match: the data has the ETag ${etag}`);
  }
}
