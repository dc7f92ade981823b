import { describeWithServer } from '../servers/describe.ts';
import { expectExpressionsExact } from './mysql-expression-suite.ts';

describeWithServer({ servers: 'MariaDB' }, 'the MariaDB reader', (server) => expectExpressionsExact(() => server()));
