import type { DatabaseEngine } from '../database-engine.ts';
import { common, ifAny, oneOf, tlsMode } from '../parameter-readers.ts';

export const clickhouse: DatabaseEngine = {
  title: 'ClickHouse',
  schemes: ['clickhouse', 'clickhousedb'],
  port: 8123,
  tlsPort: 8443,
  // As in ClickHouse's own drivers. https://clickhouse.com/docs/integrations/connection-strings
  parameters: {
    ...common,
    database: ifAny((database) => ({ database })),
    secure: oneOf({ true: tlsMode('verify'), false: tlsMode('off') }),
  },
  reservedSettings:
    /^(readonly|allow_ddl|limit|offset|extremes|\w*overflow_mode(_leaf)?|skip_unavailable_shards|(in|out)put_format_\w+|format_\w+|default_format|database|query|query_id|param_\w+|user|password|session_\w+|date_time_output_format|wait_end_of_query|compress|decompress|enable_http_compression|http_\w+|cancel_http_\w+)$/i,
  exampleTable: 'shop.orders',
  hasRawTexts: true,
};
