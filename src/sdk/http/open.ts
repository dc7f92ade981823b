import type { HttpClient, HttpClientOptions } from './client.ts';

/** A client for one run. Loads the HTTP package lazily, for the first request. */
export async function openHttp(init: HttpClientOptions): Promise<HttpClient> {
  const { HttpClient } = await import('./client.ts');
  return new HttpClient(init);
}
