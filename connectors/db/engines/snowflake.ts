import type { DatabaseEngine } from '../database-engine.ts';
import { ifAny } from '../parameter-readers.ts';

/** URLs are as in SQLAlchemy's dialect for Snowflake: `snowflake://USER@ACCOUNT/DATABASE/SCHEMA?warehouse=…&role=…`. */
export const snowflake: DatabaseEngine = {
  title: 'Snowflake',
  schemes: ['snowflake'],
  port: 443,
  hasOneHost: true,
  api: { urlHost: 'host', domain: 'snowflakecomputing.com', login: 'token or key' },
  parameters: {
    warehouse: ifAny((warehouse) => ({ session: { warehouse } })),
    role: ifAny((role) => ({ session: { role } })),
  },
  // Fields and parameters of a request. Others could change how values are written.
  reservedSettings: /^(?!(warehouse|role|schema|query_tag|use_cached_result)$)/i,
  exampleTable: 'SHOP.PUBLIC.ORDERS',
};
