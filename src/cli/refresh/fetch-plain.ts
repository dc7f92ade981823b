import { fetchDatasource } from '../../../connectors/simple_rest/index.ts';
import type { Sink } from '../../pipeline/stream-rows.ts';
import type { Properties } from './properties.ts';

/** The documented properties of a `simple_rest` data source, and additional properties that are allowed. */
const documented = ['endpoint_url', 'method', 'parameters'];
const beside = ['headers', 'no_refresh', 'oauth_provider_id', 'token_id'];

const timeoutMs = 60_000;

/** Whether a data source only specifies what to fetch: if so, the response is the document, byte for byte. */
export function isPlainFetch(connector: string, given: Properties): boolean {
  return connector === 'simple_rest' && Object.keys(given).every((name) => [...documented, ...beside].includes(name));
}

export async function fetchPlain(given: Properties, sink: Sink, signal: AbortSignal): Promise<void> {
  const { endpoint_url = '', method, parameters, headers } = given as Record<string, string | undefined>;
  const asked = {
    endpoint_url,
    method,
    parameters,
    ...(headers === undefined ? {} : { headers: headers as unknown as Readonly<Record<string, string>> }),
  };
  const limits = { signal, timeoutMs, maxBytes: Number.MAX_SAFE_INTEGER };
  for await (const chunk of fetchDatasource(asked, limits)) await sink.write([Buffer.from(chunk)], () => undefined);
}

/**
 * A `simple_rest` data source's properties, with its token in a header. `oauth_user_header` is `Name` or `Name: token
 * prefix`. Default: `Authorization: Bearer`.
 */
export function withTokenHeader({ oauth_user_token: token, oauth_user_header, ...given }: Properties): Properties {
  if (typeof token !== 'string' || token === '') return given;
  const [name = '', scheme = ''] = String(oauth_user_header || 'Authorization: Bearer').split(/:\s*/, 2);
  return { ...given, headers: { ...headersOf(given.headers), [name]: `${scheme} ${token}`.trim() } };
}

function headersOf(headers: unknown): object {
  return typeof headers === 'string' ? (JSON.parse(headers) as object) : ((headers ?? {}) as object);
}
