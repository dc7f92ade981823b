import { expectExpressionsExact } from '../connectors/mysql-expression-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'MySQL 8 expressions', (server) => expectExpressionsExact(() => server()));
