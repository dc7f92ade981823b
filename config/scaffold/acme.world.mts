import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostileValues, type World } from 'sluice/sdk/testing';

const token = 'acme-token-for-tests';
const manyTickets = 200_000;
const opened = '2026-01-31T08:00:00Z';

interface Ticket {
  readonly id: number;
  readonly version: number;
  readonly subject: string | null;
  readonly hours: string | null;
  readonly opened: string;
}

const ticket = (id: number, subject: string | null, hours: string | null = null): Ticket => ({
  id,
  version: id,
  subject,
  hours,
  opened,
});

/**
 * A test double of the service: the part that the connector uses, with the behavior that the documentation promises.
 */
class Acme {
  readonly open = [ticket(1, 'It does not work', '1.50'), ticket(2, null)];
  readonly closed = hostileValues.map((value, i) => ticket(i + 1, value));
  readonly #server = createServer((request, response) => this.#answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    if (headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end('no such token');
      return;
    }
    const { searchParams } = new URL(url, 'http://acme');
    const [after, limit] = [Number(searchParams.get('after')), Number(searchParams.get('limit'))];
    const tickets = this.#tickets(searchParams.get('status'), after, limit);
    response.end(JSON.stringify({ total: this.open.length, tickets }));
  }

  #tickets(status: string | null, after: number, limit: number): Ticket[] {
    if (status === 'any') {
      const count = Math.min(limit, manyTickets - after);
      return Array.from({ length: count }, (_, i) => ticket(after + i + 1, 'Please call back. '.repeat(7)));
    }
    const all = status === 'closed' ? this.closed : this.open;
    return all.filter(({ version }) => version > after).slice(0, limit);
  }
}

const world: World = {
  async open() {
    const acme = new Acme();
    const url = await acme.start();
    const elsewhere = new Acme();
    const gone = await elsewhere.start();
    await elsewhere.stop();
    return {
      source: { url, token },
      query: { status: 'open' },
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'subject', type: 'text' },
        { name: 'hours', type: 'decimal' },
        { name: 'opened', type: 'timestamptz' },
      ],
      rows: [
        ['1', 'It does not work', '1.50', opened],
        ['2', null, null, opened],
      ],
      refused: [
        { source: { url: 'acme.example.com' }, option: 'url' },
        { source: { token: undefined }, option: 'token' },
        { query: { status: 'lost' }, option: 'status' },
      ],
      credentials: { source: { token: 'another-token' } },
      unreachable: { source: { url: gone } },
      hostile: { query: { status: 'closed' }, names: ['subject'] },
      many: { query: { status: 'any' }, rows: manyTickets },
      resume: {
        query: { changed_only: true },
        async grow() {
          acme.open.push(ticket(3, 'Neither does this'));
          return [['3', 'Neither does this', null, opened]];
        },
      },
      close: () => acme.stop(),
    };
  },
};
export default world;
