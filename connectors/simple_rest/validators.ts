import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '#sdk';

/** The validators from a response. The next request sends them as conditions (RFC 9110, 8.8 and 13.1). */
interface Validators {
  /** Hash of the request. Validators are valid only for the request whose response contained them. */
  readonly asked: string;
  readonly etag?: string;
  readonly modified?: string;
}

/** Adds the validators from the last response as conditions, provided that it was a response to the same request. */
export function conditioned(request: HttpRequest, watermark: string | undefined): HttpRequest {
  const known = read(watermark);
  if (known === undefined || known.asked !== askedHash(request)) return request;
  const conditions = {
    ...(known.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known.modified === undefined ? {} : { 'if-modified-since': known.modified }),
  };
  return { ...request, trustedHeaders: { ...request.trustedHeaders, ...conditions } };
}

/** Whether the request has conditions, so that the server may respond with status code 304. */
export function isConditioned({ trustedHeaders }: HttpRequest): boolean {
  return 'if-none-match' in trustedHeaders || 'if-modified-since' in trustedHeaders;
}

/** The new watermark; undefined if the response has no validators. */
export function validatorsOf(request: HttpRequest, { headers }: Pick<HttpResponse, 'headers'>): string | undefined {
  const etag = [headers.etag ?? []].flat()[0];
  const modified = [headers['last-modified'] ?? []].flat()[0];
  if (etag === undefined && modified === undefined) return undefined;
  const validators: Validators = {
    asked: askedHash(request),
    ...(etag === undefined ? {} : { etag }),
    ...(modified === undefined ? {} : { modified }),
  };
  return JSON.stringify(validators);
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
