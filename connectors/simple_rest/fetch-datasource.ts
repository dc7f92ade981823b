import { httpProblem, type MayReach, openHttp, withDefaults } from '#sdk';
import { query, source } from './options.ts';
import { requestOf } from './request.ts';
import type { RequestParameter } from './request-parameter.ts';

/** A `simple_rest` data source's properties, as defined in the service document. */
export interface DatasourceProperties {
  readonly endpoint_url: string;
  /** The HTTP method in upper or lower case. Default: GET. */
  readonly method?: string;
  /** A list of {name, value, type} objects, or the same list as a JSON string. */
  readonly parameters?: string | readonly RequestParameter[];
  /** Headers to send with the request. They include the data source's token if it has one. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FetchLimits {
  readonly signal: AbortSignal;
  /** Limit of the whole response. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Which IP addresses may be reached. Every resolved address is checked, even after a redirect. */
  readonly mayReach?: MayReach;
}

/**
 * Sends one request and returns the decompressed response body. Doesn't retry, because the caller's queue decides about
 * retries. Throws a Problem if the request doesn't succeed completely, possibly after returning some bytes.
 */
export async function* fetchDatasource(
  { endpoint_url, method = 'GET', parameters = [], headers = {} }: DatasourceProperties,
  { signal, timeoutMs, maxBytes, mayReach }: FetchLimits,
): AsyncGenerator<Uint8Array> {
  if (!/^https?:\/\//i.test(endpoint_url) || !URL.canParse(endpoint_url)) throw noAddress(endpoint_url);
  const request = requestOf(
    withDefaults(source, { headers }),
    withDefaults(query, { endpoint_url, method, parameters }),
  );
  const client = await openHttp({ timeoutMs, answerMs: timeoutMs, signal, otherOrigins: [], mayReach });
  try {
    const { body } = await client.fetch(request);
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw httpProblem('REST_TOO_LARGE', 'job', `the response is larger than ${maxBytes} bytes`);
      yield chunk;
    }
  } finally {
    await client.close();
  }
}

function noAddress(seen: string) {
  return httpProblem('REST_ADDRESS', 'config', 'endpoint_url is not an http or https URL', { seen });
}
