import { batchText, withDefaults } from '#sdk';
import { extractOver } from './api-extract.ts';
import { bigqueryApi } from './bigquery-api.ts';
import { bigqueryCatalogue, bigqueryDialect } from './bigquery-dialect.ts';
import { BigqueryQuery } from './bigquery-query.ts';
import type { Driver } from './driver.ts';
import { query } from './options.ts';

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
  extract: (options, query) =>
    extractOver(options, bigqueryApi, (api) => new BigqueryQuery(api, options, query).read()),
};
