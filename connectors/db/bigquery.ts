import { batchText, withDefaults } from '#sdk';
import { ApiSession } from './api-session.ts';
import { bigqueryApi } from './bigquery-api.ts';
import { bigqueryCatalogue, bigqueryDialect } from './bigquery-dialect.ts';
import { BigqueryQuery } from './bigquery-query.ts';
import { unreadable } from './broken-protocol.ts';
import type { Driver } from './driver.ts';
import { query } from './options.ts';
import { noSnapshot } from './transaction.ts';

/** Driver for BigQuery, over its REST API. https://cloud.google.com/bigquery/docs/reference/rest */
export const bigquery: Driver = {
  dialect: bigqueryDialect,
  catalogue: bigqueryCatalogue,
  async check(options) {
    const { project, database } = options.address;
    const asked = { ...withDefaults(query, {}), sql: 'select session_user()' };
    const { batches } = await bigquery.extract(options, asked);
    let user: string | null | undefined;
    for await (const batch of batches) user = batchText(batch)[0]?.[0];
    return `BigQuery as ${user} on ${project}.${database}`;
  },
  async extract(options, query) {
    const [server] = options.address.servers;
    // Two queries don't see the same rows, because there are no transactions.
    if (options.needsSnapshot === true) throw noSnapshot(server.place);
    const login = { ...options, server };
    const api = await ApiSession.open(login, bigqueryApi(login));
    try {
      return await new BigqueryQuery(api, options, query).read();
    } catch (thrown) {
      api.close();
      options.signal.throwIfAborted();
      throw unreadable(thrown);
    }
  },
};
