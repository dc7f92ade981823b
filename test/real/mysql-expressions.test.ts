import { expectExpressionsExact } from '../connectors/mysql-expression-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'expressions of MySQL 8', (server) => expectExpressionsExact(() => server()));
