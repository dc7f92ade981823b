import type { TestServer } from '../test/servers/server.ts';
import { mariadbClient, orderColumns } from './data.ts';

/** One benchmark case: a job, and the shell pipe that does the same. */
export interface Case {
  readonly name: string;
  readonly format: 'csv' | 'json' | 'xml';
  /** Country in lower case, the result of the per-row transform. */
  readonly transformed: boolean;
  readonly source: 'pg' | 'maria';
  /** The shell pipe; `$SINK` is the receiver's URL. */
  readonly pipe: string;
  /** Wall time as a ratio to the pipe: the goal, and the upper limit. */
  readonly aim: number;
  readonly floor: number;
}

const columns = orderColumns.join(', ');
const query = `select ${columns} from orders order by id`;

/** All cases, with the pipes for these two servers. */
export function casesFor({ pg, maria }: { pg: TestServer; maria: TestServer }): Case[] {
  const psql = (copy: string): string => `psql -q "${pg.url}" -c "\\copy (${copy}) to stdout`;
  const curl = 'curl -sS -o /dev/null -T - "$SINK"';
  const pipes = {
    csv: `${psql(query)} csv header" | ${curl}`,
    json: `${psql(`select row_to_json(o) from (${query}) o`)}" | ${curl}`,
    xml: `${psql(`select xmlelement(name row, xmlforest(${columns})) from orders order by id`)}" | ${curl}`,
    maria: `${mariadbClient(maria)} --batch --quick -e "${query}" | ${curl}`,
  };
  const pair = (
    given: Omit<Case, 'transformed' | 'aim' | 'floor'>,
    plain: [number, number],
    shaped: [number, number],
  ): Case[] => [
    { ...given, transformed: false, aim: plain[0], floor: plain[1] },
    { ...given, name: `${given.name} transformed`, transformed: true, aim: shaped[0], floor: shaped[1] },
  ];
  return [
    ...pair({ name: 'PostgreSQL csv', format: 'csv', source: 'pg', pipe: pipes.csv }, [1.15, 1.5], [1.3, 1.8]),
    ...pair({ name: 'PostgreSQL json', format: 'json', source: 'pg', pipe: pipes.json }, [0.6, 0.8], [0.75, 1.1]),
    ...pair({ name: 'PostgreSQL xml', format: 'xml', source: 'pg', pipe: pipes.xml }, [0.45, 0.6], [0.55, 0.8]),
    ...pair({ name: 'MariaDB csv', format: 'csv', source: 'maria', pipe: pipes.maria }, [0.75, 1.0], [1.25, 1.6]),
  ];
}

/** The name of a case's job. */
export function jobOf(given: Case): string {
  return `${given.source}-${given.format}${given.transformed ? '-lower' : ''}`;
}

/** The config with the same query and one job per case, into the sink. */
export function configFor({
  cases,
  pg,
  maria,
  sink,
  state,
}: {
  cases: readonly Case[];
  pg: TestServer;
  maria: TestServer;
  sink: string;
  state: string;
}): string {
  const jobs = cases.map((one) => ({
    [jobOf(one)]: {
      source: one.source,
      query,
      ...(one.transformed ? { transforms: [{ compute: { country: 'lower(country)' } }] } : {}),
      format: one.format,
      target: jobOf(one),
      always: true,
    },
  }));
  return JSON.stringify({
    version: 1,
    state,
    destinations: {
      sink: { url: sink, api_key: 'bench', requests_per_day: 100_000, upload_limit_bytes: 100_000_000_000 },
    },
    sources: {
      pg: { connector: 'db', driver: 'postgres', url: pg.url },
      maria: { connector: 'db', driver: 'mariadb', url: maria.url },
    },
    jobs: Object.assign({}, ...jobs),
  });
}
