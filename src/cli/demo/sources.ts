import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SqliteDatabase } from '../../lib/sqlite.ts';

const customers = ['Zoë Müller', 'Łucja Nowak', 'O"Neill, Gwen', 'Søren <Holm>', '佐藤 花', 'Marek & Söhne'];
const countries = ['DE', 'PL', 'GB', 'DK', 'JP', 'CZ'];

/** A SQLite database of a shop with 5,000 orders. The names and notes are as messy as in real data. */
export function makeShop(folder: string): void {
  const db = new SqliteDatabase(join(folder, 'shop.db'));
  db.exec(
    'create table orders (id integer primary key, customer text, country text, amount decimal(12,2), ordered_at timestamp, note text)',
  );
  const insert = db.prepare('insert into orders values (?, ?, ?, ?, ?, ?)');
  db.transaction(() => {
    for (let id = 1; id <= 5000; id++) {
      const who = id % customers.length;
      const minute = String(id % 60).padStart(2, '0');
      const note = id % 3 === 0 ? null : `Ticket #${id}, "express"${id % 7 === 0 ? '\nring twice' : ''}`;
      insert.run(
        id,
        customers[who]!,
        countries[who]!,
        `${(id * 37) % 900}.${String(id % 100).padStart(2, '0')}`,
        `2026-11-${String(1 + (id % 20)).padStart(2, '0')} 08:${minute}:00`,
        note,
      );
    }
  });
  db.close();
}

/** A csv file with data about visits over half a year. */
export async function makeVisits(folder: string): Promise<void> {
  const rows = Array.from({ length: 182 }, (_, day) => {
    const date = new Date(Date.UTC(2026, 4, 1 + day)).toISOString().slice(0, 10);
    return `${date},${1200 + ((day * 97) % 640)},0.${String((day * 13) % 90).padStart(2, '0')},"Campaign ""${day % 5}"", spring"`;
  });
  await writeFile(join(folder, 'visits.csv'), `day,visitors,bounce_rate,source\n${rows.join('\n')}\n`);
}

const items = Array.from({ length: 240 }, (_, i) => ({
  sku: `000${1000 + i}`,
  name: `Crate ${i} <${i % 2 === 0 ? 'blue' : 'red'}>`,
  quantity: 9007199254740993n + BigInt(i),
  shelf: i % 11 === 0 ? null : `R${i % 40}`,
}));

/** Serves two paths on a free loopback port: `/stock`, in pages of 100 with a cursor, and `/weather`. */
export async function serveApi(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('content-type', 'application/json');
    response.end(url.pathname === '/weather' ? weather() : stockPage(Number(url.searchParams.get('after') ?? 0)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) };
}

/** Writes 64-bit quantities as digits, because JSON.stringify doesn't support BigInt. */
function stockPage(from: number): string {
  const page = items
    .slice(from, from + 100)
    .map(({ quantity, ...item }) => `{"quantity":${quantity},${JSON.stringify(item).slice(1)}`);
  const next = from + 100 < items.length ? from + 100 : null;
  return `{"items":[${page.join(',')}],"next":${next}}`;
}

function weather(): string {
  return JSON.stringify([
    { city: 'Łódź', celsius: 4.5 },
    { city: 'Brno', celsius: 6 },
  ]);
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
