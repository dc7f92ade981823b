import type { HttpRequest, HttpResponse, SpooledPage, Surveyed } from '#sdk';

/** A page on disk. */
export interface FetchedPage {
  readonly request: HttpRequest;
  readonly answer: HttpResponse;
  readonly spooled: SpooledPage;
}

/** Everything that a page contains except its records. */
export interface PageContent {
  readonly records: number;
  readonly valueAt: (place: string) => unknown;
  /** What the page contains at the nearest existing part of a place. */
  readonly nearby: Surveyed['nearby'];
}

/** A page that was read, or a response that isn't a page: it says that nothing has changed or that there is no page. */
export type Fetched =
  | { readonly kind: 'page'; readonly page: FetchedPage; readonly content: PageContent }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'beyond'; readonly answer: HttpResponse }
  | { readonly kind: 'missing'; readonly answer: HttpResponse };

/** Reads and discards the body, because an unread response would keep its connection busy. */
export async function discarded(answer: HttpResponse): Promise<HttpResponse> {
  for await (const _ of answer.body) break;
  return answer;
}
