import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '#sdk';

/** What an answer said about its state, for the next time that it is asked for (RFC 9110, 8.8 and 13.1). */
interface Validators {
  /** Hash of what was asked: an answer to something else is no reason to take this one for unchanged. */
  readonly asked: string;
  readonly etag?: string;
  readonly modified?: string;
}

/** The request with the conditions that the last answer to the very same one allows. */
export function conditioned(request: HttpRequest, watermark: string | undefined): HttpRequest {
  const known = read(watermark);
  if (known === undefined || known.asked !== askedHash(request)) return request;
  const conditions = {
    ...(known.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known.modified === undefined ? {} : { 'if-modified-since': known.modified }),
  };
  return { ...request, trustedHeaders: { ...request.trustedHeaders, ...conditions } };
}

/** Whether an answer to the request may be that nothing has changed. */
export function isConditioned({ trustedHeaders }: HttpRequest): boolean {
  return 'if-none-match' in trustedHeaders || 'if-modified-since' in trustedHeaders;
}

/** The watermark after an answer; undefined where it said nothing that could be asked with. */
export function validatorsOf(request: HttpRequest, { headers }: Pick<HttpResponse, 'headers'>): string | undefined {
  const etag = [headers.etag ?? []].flat()[0];
  const modified = [headers['last-modified'] ?? []].flat()[0];
  if (etag === undefined && modified === undefined) return undefined;
  const said: Validators = {
    asked: askedHash(request),
    ...(etag === undefined ? {} : { etag }),
    ...(modified === undefined ? {} : { modified }),
  };
  return JSON.stringify(said);
}

function askedHash({ method, url, body = '' }: HttpRequest): string {
  return createHash('sha256').update(`${method} ${url.href} ${body}`).digest('hex').slice(0, 32);
}

function read(watermark: string | undefined): Validators | undefined {
  if (watermark === undefined) return undefined;
  try {
    return JSON.parse(watermark) as Validators;
  } catch {
    return undefined;
  }
}
