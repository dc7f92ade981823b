import type { DatabaseEngine } from '../database-engine.ts';
import { ifAny } from '../parameter-readers.ts';

/** URLs are as in SQLAlchemy's dialect for BigQuery: `bigquery://PROJECT/DATASET?location=EU`. */
export const bigquery: DatabaseEngine = {
  title: 'BigQuery',
  schemes: ['bigquery'],
  port: 443,
  hasOneHost: true,
  api: { urlHost: 'project', host: 'bigquery.googleapis.com', login: 'OAuth or token' },
  parameters: {
    location: ifAny((location) => ({ session: { location } })),
    maximum_bytes_billed: ifAny((bytes) => ({ session: { maximum_bytes_billed: bytes } })),
  },
  // Properties of a query's job. Others could change what it returns, or where it writes its result.
  reservedSettings: /^(?!(location|maximum_bytes_billed)$)/i,
  exampleTable: 'project.dataset.orders',
};
