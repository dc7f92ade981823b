import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from '../servers/certificates.ts';
import { describeWithServer } from '../servers/describe.ts';
import { problemOf } from './db-reader.ts';
import { mariadbSituations } from './situations/mariadb.ts';
import { postgresSituations } from './situations/postgres.ts';
import { sqliteSituations } from './situations/sqlite.ts';
import { openStage, type Stage } from './situations/stage.ts';

let tls: Certificates;
const settings = async () => {
  tls = await makeCertificates(['IP:127.0.0.1']);
  return { tls };
};

describeWithServer(
  { servers: ['PostgreSQL', 'MariaDB'], settings },
  'what happened and what to do is said',
  (server) => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage({ postgres: server('PostgreSQL'), mariadb: server('MariaDB'), ca: tls.ca });
    });
    afterAll(() => stage.close());

    const kinds = { PostgreSQL: postgresSituations, MariaDB: mariadbSituations, SQLite: sqliteSituations };
    for (const [kind, situations] of Object.entries(kinds)) {
      it.each(situations)(`${kind}: %s`, async (_situation, act, code, message, next) => {
        const problem = await problemOf(act(stage));
        expect(`${problem.code} ${problem.family}`).toMatch(new RegExp(`^${code}$`));
        expect(`${problem.message} ${problem.seen ?? ''}`).toMatch(message);
        expect(problem.next).toMatch(next);
      });
    }
  },
);
