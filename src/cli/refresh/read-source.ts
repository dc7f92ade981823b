import { fetchDatasource } from '../../../connectors/simple_rest/index.ts';
import { openCatalog } from '../../config/catalog/catalog.ts';
import { formatById } from '../../formats/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { type Sink, streamRows } from '../../pipeline/stream-rows.ts';
import type { Connector } from '../../sdk/connector.ts';
import { withDefaults } from '../../sdk/option.ts';
import { grantNames, inlineLogin } from './inline-login.ts';
import { loginNames, type Properties, plainName, readProperties } from './properties.ts';
import type { RefreshOrder } from './protocol.ts';

/** The documented properties of a `simple_rest` data source, and the additional properties that Sluice accepts. */
const documented = ['endpoint_url', 'method', 'parameters'];
const beside = ['headers', 'no_refresh', 'oauth_provider_id', 'token_id'];

const timeoutMs = 60_000;

/**
 * Whether the data source's properties only specify what to fetch. If so, the response becomes the document unchanged.
 */
function isPlainFetch(connector: string, given: Properties): boolean {
  return connector === 'simple_rest' && Object.keys(given).every((name) => [...documented, ...beside].includes(name));
}

async function fetchPlain(given: Properties, sink: Sink, signal: AbortSignal): Promise<void> {
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
function withTokenHeader({ oauth_user_token: token, oauth_user_header, ...given }: Properties): Properties {
  if (typeof token !== 'string' || token === '') return given;
  const [name = '', scheme = ''] = String(oauth_user_header || 'Authorization: Bearer').split(/:\s*/, 2);
  return { ...given, headers: { ...headersOf(given.headers), [name]: `${scheme} ${token}`.trim() } };
}

function headersOf(headers: unknown): object {
  return typeof headers === 'string' ? (JSON.parse(headers) as object) : ((headers ?? {}) as object);
}

/** Reads a data source according to its properties, and passes the document on in chunks as they're produced. */
export async function readSource(order: RefreshOrder, sink: Sink, signal: AbortSignal): Promise<void> {
  const { format, properties, scratch, limits } = order;
  const connector = await connectorOf(order.connector);
  const named = Object.fromEntries(Object.entries(properties).map(([name, value]) => [plainName(name), value]));
  const given = connector.id === 'simple_rest' ? withTokenHeader(named) : named;
  if (isPlainFetch(connector.id, given)) return fetchPlain(given, sink, signal);
  const others = othersOf(connector);
  const { source, query } = readProperties(connector, given, others);
  const login = inlineLogin(connector, source, given);
  const encoding = formatById(format);
  await streamRows({
    extract: {
      source: { name: connector.id, connector, options: source },
      query,
      transforms: [],
      format: encoding,
      formatOptions: withDefaults(encoding.options, {}),
      stallTimeoutMs: limits.stallMs,
    },
    folder: scratch,
    spool: scratch,
    run: 'refresh',
    signal,
    clock: systemClock,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    // The service has no place to store a refresh's warnings.
    warn: () => undefined,
    sink,
    onProgress: () => undefined,
    login,
  });
}

async function connectorOf(id: string): Promise<Connector> {
  const catalog = await openCatalog();
  const connector = id === 'file' ? undefined : await catalog.load(id);
  if (connector !== undefined) return connector;
  throw new Problem({
    code: 'REFRESH_CONNECTOR',
    family: 'config',
    message: `This service cannot refresh a data source with the "${id}" connector`,
    next: 'push its data to PUT /datasource-instances/{id}/data',
  });
}

/** Properties that describe the login, unless the connector has an option with the same name. */
function othersOf(connector: Connector): string[] {
  const own = { ...connector.source, ...connector.query };
  if (connector.oauth === undefined) return ['no_refresh'];
  const names = ['no_refresh', ...loginNames, ...grantNames, 'password', 'instance_url', 'access_url'];
  return names.filter((name) => !Object.hasOwn(own, name));
}
