import { describeWithServer } from '../servers/describe.ts';
import { expectParametersExact } from './mysql-parameter-suite.ts';

describeWithServer({ servers: 'MariaDB' }, 'the MariaDB reader', (server) => expectParametersExact(() => server()));
