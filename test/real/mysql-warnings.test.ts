import { expectWarningsTold } from '../connectors/mysql-warning-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'MySQL 8 warnings', (server) => expectWarningsTold(() => server()));
