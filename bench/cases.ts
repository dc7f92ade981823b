import { createHash } from 'node:crypto';
import type { TestServer } from '../test/servers/server.ts';
import { mariadbClient, orderColumns } from './data.ts';

/** A benchmark case: a job and an equivalent shell pipeline. */
export interface Case {
  readonly name: string;
  readonly format: 'csv' | 'json' | 'xml';
  /** Whether the job converts the country to lower case in a per-row transform. */
  readonly transformed: boolean;
  readonly source: 'pg' | 'maria' | 'file';
  /** False if the rows never change. In that case, only the first run sends data. */
  readonly sends: boolean;
  /** The equivalent shell pipeline; `$SINK` is the receiver's URL. */
  readonly pipe: string;
  /**
   * Target and maximum for the job's wall time: in seconds for a small job, otherwise as a multiple of the pipeline's
   * time.
   */
  readonly limits: Limits;
}

export type Limits = readonly [aim: number, floor: number];

const columns = orderColumns.join(', ');
const query = `select ${columns} from orders order by id`;

/** Number of rows that produce about 10 MB of csv, the size of the largest payload that the service accepts. */
export const largestPayloadRows = 95_000;

/** The small job reads a few rows from a csv file. */
export const smallJob = { rows: 12, file: 'rows.csv' } as const;

export const isSmall = ({ source }: Case): boolean => source === 'file';

interface CasesOptions {
  readonly pg: TestServer;
  readonly maria: TestServer;
  /** Folder that contains the small job's file. */
  readonly folder: string;
  readonly rows: number;
}

/**
 * Returns all cases. Their shell pipelines read from the given servers. The limits depend on how much of the run time
 * is startup.
 */
export function casesFor({ pg, maria, folder, rows }: CasesOptions): Case[] {
  const psql = (copy: string): string => `psql -q "${pg.url}" -c "\\copy (${copy}) to stdout`;
  const curl = 'curl -sS -o /dev/null -T - "$SINK"';
  const pipes = {
    csv: `${psql(query)} csv header" | ${curl}`,
    json: `${psql(`select row_to_json(o) from (${query}) o`)}" | ${curl}`,
    xml: `${psql(`select xmlelement(name row, xmlforest(${columns})) from orders order by id`)}" | ${curl}`,
    maria: `${mariadbClient(maria)} --batch --quick -e "${query}" | ${curl}`,
    small: `curl -sS -o /dev/null -T "${folder}/${smallJob.file}" "$SINK"`,
  };
  const isScale = rows > largestPayloadRows;
  const pair = (
    given: Omit<Case, 'transformed' | 'sends' | 'limits'>,
    payload: readonly [plain: Limits, transformed: Limits],
    scale: readonly [plain: Limits, transformed: Limits],
  ): Case[] => {
    const [plain, transformed] = isScale ? scale : payload;
    return [
      { ...given, sends: true, transformed: false, limits: plain },
      { ...given, sends: true, name: `${given.name} transformed`, transformed: true, limits: transformed },
    ];
  };
  const small = { format: 'csv', source: 'file', transformed: false, pipe: pipes.small } as const;
  return [
    { ...small, name: 'small job, nothing new', sends: false, limits: [0.12, 0.25] },
    { ...small, name: 'small job, delivered', sends: true, limits: [0.16, 0.3] },
    ...pair(
      { name: 'PostgreSQL csv', format: 'csv', source: 'pg', pipe: pipes.csv },
      [
        [1.6, 2.2],
        [1.8, 2.5],
      ],
      [
        [1.15, 1.5],
        [1.3, 1.8],
      ],
    ),
    ...pair(
      { name: 'PostgreSQL json', format: 'json', source: 'pg', pipe: pipes.json },
      [
        [0.9, 1.3],
        [1.05, 1.5],
      ],
      [
        [0.6, 0.8],
        [0.75, 1.1],
      ],
    ),
    ...pair(
      { name: 'PostgreSQL xml', format: 'xml', source: 'pg', pipe: pipes.xml },
      [
        [0.65, 0.9],
        [0.75, 1.1],
      ],
      [
        [0.45, 0.6],
        [0.55, 0.8],
      ],
    ),
    ...pair(
      { name: 'MariaDB csv', format: 'csv', source: 'maria', pipe: pipes.maria },
      [
        [1.8, 2.5],
        [2.0, 2.8],
      ],
      [
        [0.75, 1.0],
        [1.25, 1.6],
      ],
    ),
  ];
}

/** The name of a case's job. */
export function jobOf(given: Case): string {
  return `${given.source}-${given.format}${given.transformed ? '-lower' : ''}${given.sends ? '' : '-same'}`;
}

/** The config: one job per case. All jobs have the same query and send to the sink. */
export function configFor({
  cases,
  pg,
  maria,
  sink,
  folder,
}: {
  cases: readonly Case[];
  pg: TestServer;
  maria: TestServer;
  sink: string;
  folder: string;
}): string {
  const jobs = cases.map((one) => ({
    [jobOf(one)]: {
      source: one.source,
      query: isSmall(one) ? smallJob.file : query,
      ...(one.transformed ? { transforms: [{ compute: { country: 'lower(country)' } }] } : {}),
      format: one.format,
      target: createHash('md5').update(jobOf(one)).digest('hex'),
      always: one.sends,
    },
  }));
  return JSON.stringify({
    version: 1,
    state: `${folder}/state`,
    destinations: {
      sink: { url: sink, api_key: 'bench', requests_per_day: 100_000, upload_limit_bytes: 100_000_000_000 },
    },
    sources: {
      pg: { connector: 'db', driver: 'postgres', url: pg.url },
      maria: { connector: 'db', driver: 'mariadb', url: maria.url },
      file: { connector: 'file', folder },
    },
    jobs: Object.assign({}, ...jobs),
  });
}
