import { expectParametersExact } from '../connectors/mysql-parameter-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'parameters of MySQL 8', (server) => expectParametersExact(() => server()));
