import type { HttpClient, HttpClientOptions } from './client.ts';

/** A client for one run. The package behind it is loaded here, when the first request is near, and not before. */
export async function openHttp(init: HttpClientOptions): Promise<HttpClient> {
  const { HttpClient } = await import('./client.ts');
  return new HttpClient(init);
}
