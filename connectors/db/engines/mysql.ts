import type { DatabaseEngine } from '../database-engine.ts';
import { common, file, hosts, ifAny, nothing, oneOf, tlsMode } from '../parameter-readers.ts';

export const mysql: DatabaseEngine = {
  title: 'MySQL',
  schemes: ['mysql'],
  port: 3306,
  // https://dev.mysql.com/doc/refman/8.4/en/connecting-using-uri-or-key-value-pairs.html, and what hosters write.
  parameters: {
    ...common,
    socket: ifAny(hosts),
    unix_socket: ifAny(hosts),
    'ssl-mode': oneOf({
      disabled: tlsMode('off'),
      required: tlsMode('require'),
      'verify-ca': tlsMode('verify-ca'),
      'verify-identity': tlsMode('verify'),
    }),
    ssl: oneOf({ true: tlsMode('verify'), '{"rejectunauthorized":true}': tlsMode('verify') }),
    sslaccept: oneOf({ strict: tlsMode('verify') }),
    'ssl-ca': file('ca_file'),
    'ssl-cert': file('cert_file'),
    'ssl-key': file('key_file'),
    charset: oneOf({ utf8mb4: nothing, utf8: nothing }),
  },
  reservedSettings:
    /^(autocommit|(transaction|tx)_\w+|completion_type|time_zone|character_set_\w+|collation_connection|sql_select_limit|(un)?names)$/i,
  exampleTable: 'shop.orders',
};
