import { expectWarningsTold } from '../connectors/mysql-warning-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'warnings of MySQL 8', (server) => expectWarningsTold(() => server()));
