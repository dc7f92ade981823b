import { expectParametersExact } from '../connectors/mysql-parameter-suite.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'MySQL 8 parameters', (server) => expectParametersExact(() => server()));
