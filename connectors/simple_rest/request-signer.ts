import type { HttpRequest, HttpResponse } from '#sdk';

/** Adds credentials that depend on the whole request, after its URL, headers and body are final. */
export interface RequestSigner {
  sign(request: HttpRequest): Promise<HttpRequest>;
  /** Whether the request may succeed if it's signed again, according to a response with status 401. */
  isChallenged?(response: HttpResponse): boolean;
}
