import { readFile } from 'node:fs/promises';
import pg from 'pg';

/** What a PostgreSQL server of this machine has done since it started. */
export interface ServerWork {
  /** Including those that begin and commit transactions. */
  readonly statements: number;
  readonly cpuSeconds: number;
  readonly walBytes: number;
  /** Open connections now, except the one that measures. */
  readonly connections: number;
}

/** The setting that the server needs for {@link readWork}. */
export const workSettings = { shared_preload_libraries: 'pg_stat_statements' };

const clockTicksPerSecond = 100;

/** Connects to a server with {@link workSettings} to measure its work. */
export async function watchServer(url: string): Promise<pg.Client> {
  const { hostname: host, port, username: user, password, pathname } = new URL(url);
  const client = new pg.Client({ host, port: Number(port), user, password, database: pathname.slice(1) });
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  return client;
}

export async function readWork(client: pg.Client): Promise<ServerWork> {
  const { rows } = await client.query<Record<'statements' | 'wal' | 'connections' | 'backend', string>>(
    `select (select sum(calls) from pg_stat_statements) as statements, pg_current_wal_lsn() - '0/0' as wal,
       (select count(*) - 1 from pg_stat_activity where backend_type = 'client backend') as connections,
       pg_backend_pid() as backend`,
  );
  const { statements, wal, connections, backend } = rows[0]!;
  const cpuSeconds = await cpuOf(Number((await statOf(backend))[parentField]));
  return { statements: Number(statements), walBytes: Number(wal), connections: Number(connections), cpuSeconds };
}

// Fields of /proc/PID/stat after the name of the program; see proc(5).
const parentField = 1;
const cpuFields = [11, 12];
const cpuOfEndedFields = [13, 14];

async function statOf(pid: number | string): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** CPU time of a process, of its children and of those that have ended. */
async function cpuOf(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter((one) => one !== '');
  const stats = await Promise.all(children.map((child) => statOf(child).catch(() => [])));
  const sum = (stat: readonly string[], fields: readonly number[]): number =>
    fields.reduce((total, field) => total + Number(stat[field] ?? 0), 0);
  const own = sum(await statOf(pid), [...cpuFields, ...cpuOfEndedFields]);
  return stats.reduce((total, stat) => total + sum(stat, cpuFields), own) / clockTicksPerSecond;
}
