import type { HttpClient, HttpClientOptions } from './client.ts';

/** Opens an HTTP client for one run. The HTTP package is loaded lazily, on the first request. */
export async function openHttp(init: HttpClientOptions): Promise<HttpClient> {
  const { HttpClient } = await import('./client.ts');
  return new HttpClient(init);
}
