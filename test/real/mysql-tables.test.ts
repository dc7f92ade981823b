import mysql from 'mysql2/promise';
import { afterAll, beforeAll } from 'vitest';
import { itComparesKeys, mysqlZoo } from '../connectors/db-compare-suite.ts';
import { itReadsTables } from '../connectors/db-table-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'MySQL 8 tables', (server) => {
  let admin: mysql.Connection;
  beforeAll(async () => {
    admin = await mysql.createConnection({ uri: server().url, multipleStatements: true });
  });
  afterAll(() => admin.end());
  const source = () => ({ url: server().url });
  const run = async (sql: string) => void (await admin.query(sql));
  itReadsTables({ source, run, quote: (name) => `\`${name.replaceAll('`', '``')}\``, schema: 'sales' });
  itComparesKeys({ source, run, zoo: mysqlZoo });
});
