import { describeWithServer } from '../servers/describe.ts';
import { expectExpressionsExact } from './mysql-expression-suite.ts';

describeWithServer({ servers: 'MariaDB' }, 'expressions of MariaDB', (server) =>
  expectExpressionsExact(() => server()),
);
