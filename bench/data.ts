import { spawn } from 'node:child_process';
import type { TestServer } from '../test/servers/server.ts';

/**
 * The table that all benchmarks use. Its columns are: id bigint, UTF-8 names, country, numeric(12,2), timestamptz with
 * microseconds, and a note. The note is null in a third of the rows; otherwise it contains quotes, commas, newlines,
 * CJK and markup. The seed is fixed, so every machine has the same rows.
 */
const ordersSql = (rows: number): string => `
select setseed(0.42);
create table orders (id bigint primary key, customer text not null, country text not null,
  amount numeric(12,2) not null, created_at timestamptz not null, note text);
insert into orders
select g,
  (array['Zoë','Björn','Chloé','Dai','Eirlys','Fátima','Gwen','Hana','Íris','Jürgen','Kari','Łucja','Marek','Ngọc'])[1 + floor(random() * 14)::int]
    || ' ' || (array['Müller','Walsh','García','Petrov','O''Neill','Sato','Nowak','Evans','Bianchi','Dvořák','Holm'])[1 + floor(random() * 11)::int]
    || ' ' || floor(random() * 9999)::text,
  (array['DE','US','ES','SE','FR','JP','PL','GB','IT','CZ','NO','BR'])[1 + floor(random() * 12)::int],
  (random() * 100000)::numeric(12,2),
  timestamptz '2024-01-01 00:00:00+00' + random() * 63072000 * interval '1 second',
  case
    when r < 0.35 then null
    when r < 0.65 then 'Parcel left at depot number ' || (g % 977)
    when r < 0.75 then 'Before ten, second door, floor ' || (g % 31)
    when r < 0.83 then 'Caller said "today", see case #' || g || ', class "A"'
    when r < 0.88 then E'First line of it\\nSecond line, phone +49 30 ' || g || E'\\nThird line'
    when r < 0.96 then 'Abgabe beim Nachbarn möglich; 午後に配達 – déjà payé ✓ ' || (g % 100)
    else 'Refund <open> & "checked", amount > 100 €; ref=' || md5(g::text) || ', ' || md5((g + 1)::text)
  end
from (select g, random() r from generate_series(1, ${rows}) g) s;
vacuum analyze orders;`;

/** The columns that all benchmark queries return, in order. */
export const orderColumns = ['id', 'customer', 'country', 'amount', 'created_at', 'note'] as const;

/** Fills `orders` in PostgreSQL. */
export async function fillPostgres(server: TestServer, rows: number): Promise<void> {
  await shell(`psql -q -v ON_ERROR_STOP=1 "${server.url}" >/dev/null`, ordersSql(rows));
}

/** Copies `orders` from PostgreSQL to MariaDB. Timestamps become datetime(6) in UTC. */
export async function fillMariadb(from: TestServer, to: TestServer): Promise<void> {
  const create = `create table orders (id bigint primary key, customer text not null, country text not null,
    amount decimal(12,2) not null, created_at datetime(6) not null, note text null) character set utf8mb4;`;
  await shell(`${mariadbClient(to)}`, create);
  const file = `${to.folder}/orders.tsv`;
  const select = `select id, customer, country, amount, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), note from orders order by id`;
  await shell(`psql -q "${from.url}" -c "\\copy (${select}) to stdout" > ${file}`, '');
  await shell(
    `${mariadbClient(to)} --local-infile=1`,
    `load data local infile '${file}' into table orders character set utf8mb4 fields terminated by '\\t' escaped by '\\\\' lines terminated by '\\n'; analyze table orders;`,
  );
}

/** The command that runs the MariaDB client and connects it to a server. */
export function mariadbClient(server: TestServer): string {
  return `MYSQL_PWD='${server.password}' mariadb --no-defaults -h ${server.host} -P ${server.port} -u ${server.user} --default-character-set=utf8mb4 ${server.database}`;
}

/** Runs a shell command with this input on stdin. If the command fails, throws an error with the command's stderr. */
export async function shell(command: string, input: string): Promise<string> {
  const child = spawn('bash', ['-c', `set -o pipefail; ${command}`], { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`exit ${code}: ${command}\n${err}`);
  return out;
}
