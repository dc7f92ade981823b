import { Problem } from '../lib/problem.ts';
import type { Pull, PullRequest } from '../service/refresh/pull.ts';

const timeoutMs = 60_000;
const largestAnswer = 64 * 1024 * 1024;

/**
 * What the embedded service fetches its own data sources with. Service and connectors do not know each other; here, where
 * the service is started, they are brought together.
 */
export const pullDatasource: Pull = async function* ({ connector, properties, signal, mayReach }: PullRequest) {
  if (connector !== 'simple_rest') throw notThere(connector);
  const { fetchDatasource } = await import('../../connectors/simple_rest/index.ts');
  const { endpoint_url, method, parameters } = properties as Record<string, string | undefined>;
  const asked = {
    endpoint_url: endpoint_url ?? '',
    ...(method === undefined ? {} : { method }),
    ...(parameters === undefined ? {} : { parameters }),
  };
  yield* fetchDatasource(asked, { signal, timeoutMs, maxBytes: largestAnswer, mayReach });
};

function notThere(connector: string): Problem {
  return new Problem({
    code: 'REFRESH_CONNECTOR',
    family: 'config',
    message: `A data source of connector "${connector}" cannot be refreshed here`,
    allowed: 'simple_rest',
    next: 'push its data to PUT /datasource-instances/{id}/data',
  });
}
