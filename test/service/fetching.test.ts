import dns from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { fetchDatasource } from '../../connectors/simple_rest/index.ts';
import { type AddressPolicy, addressPolicy } from '../../src/service/refresh/address-policy.ts';

/** The addresses that names resolve to in this file. Each lookup uses the next list, and the last one repeats. */
const names = { answers: [] as string[][], asked: [] as string[] };

type Lookup = (host: string, options: object, done: Done) => void;
type Done = (error: Error | null, found: { address: string; family: number }[]) => void;

const real = dns.lookup as Lookup;
const lookup: Lookup = (host, options, done) => {
  if (!host.endsWith('.test')) return real(host, { ...options, all: true }, done);
  names.asked.push(host);
  const [addresses = []] = names.answers.length > 1 ? names.answers.splice(0, 1) : names.answers;
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  process.nextTick(done, found.length === 0 ? new Error('no such name') : null, found);
};

beforeAll(() => {
  Object.assign(dns, { lookup });
  syncBuiltinESMExports();
});

afterAll(() => {
  Object.assign(dns, { lookup: real });
  syncBuiltinESMExports();
});

async function serve(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

interface Limits {
  readonly mayReach?: AddressPolicy;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

async function fetched(endpoint_url: string, given: Limits = {}): Promise<string> {
  const limits = {
    signal: AbortSignal.timeout(200_000),
    // Long, because compressing 50 MB takes more than ten seconds on a busy machine. Tests of timeouts pass their own.
    timeoutMs: 150_000,
    maxBytes: 1_000_000,
    mayReach: own,
    ...given,
  };
  return Buffer.concat(await Array.fromAsync(fetchDatasource({ endpoint_url }, limits))).toString();
}

const own = addressPolicy({ host: '127.0.0.1', allowPrivate: false });
const shared = addressPolicy({ host: '0.0.0.0', allowPrivate: false });
const refused = { code: 'REST_ADDRESS_REFUSED' };

beforeEach(() => {
  names.answers = [];
  names.asked = [];
});

describe('a host name that a refresh fetches from', () => {
  it('is resolved only once, and the connection uses the address that was checked', async () => {
    const port = await serve((_request, response) => void response.end('[1]'));
    names.answers = [['127.0.0.1'], ['10.0.0.1']];
    expect(await fetched(`http://rebind.test:${port}/`)).toBe('[1]');
    expect(names.asked).toEqual(['rebind.test']);
  });

  it('that resolves to this machine is blocked if other machines can reach the service', async () => {
    let calls = 0;
    const port = await serve((_request, response) => void response.end(`[${++calls}]`));
    names.answers = [['127.0.0.1']];
    await expect(fetched(`http://rebind.test:${port}/`, { mayReach: shared })).rejects.toMatchObject(refused);
    expect(calls).toBe(0);
  });

  it('with several addresses is contacted only at the allowed ones', async () => {
    const port = await serve((_request, response) => void response.end('[1]'));
    names.answers = [['10.0.0.1', '::ffff:10.0.0.1', '127.0.0.1', '169.254.169.254']];
    expect(await fetched(`http://several.test:${port}/`)).toBe('[1]');
    names.answers = [['10.0.0.1', 'fd00::1', '::ffff:a9fe:a9fe']];
    await expect(fetched(`http://several.test:${port}/`)).rejects.toMatchObject(refused);
  });

  it('is checked again after a redirect', async () => {
    const asked: string[] = [];
    const port = await serve((request, response) => {
      asked.push(request.url!);
      response.writeHead(302, { location: `http://rebind.test:${port}/again`, connection: 'close' }).end();
    });
    names.answers = [['127.0.0.1'], ['192.168.1.1']];
    await expect(fetched(`http://rebind.test:${port}/first`)).rejects.toMatchObject(refused);
    expect(asked).toEqual(['/first']);
  });
});

describe('a response that a refresh fetches', () => {
  it('is limited in size, with or without content-length', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', 2_000_001);
      response.write('[');
      response.end(`${' '.repeat(1_999_999)}]`);
    });
    for (const path of ['announced', 'chunked']) {
      await expect(fetched(`http://127.0.0.1:${port}/${path}`)).rejects.toMatchObject({ code: 'REST_TOO_LARGE' });
    }
  });

  it('is limited in its decompressed size, with constant memory', async () => {
    const port = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      const packing = createGzip();
      packing.pipe(response).on('error', () => undefined);
      const zeros = Buffer.alloc(1_000_000, ' ');
      let left = 2_000;
      const more = (): void => {
        while (left-- > 0) if (!packing.write(zeros)) return void packing.once('drain', more);
        packing.end();
      };
      response.on('close', () => packing.destroy());
      more();
    });
    const before = process.memoryUsage().rss;
    await expect(fetched(`http://127.0.0.1:${port}/`, { maxBytes: 50_000_000 })).rejects.toMatchObject({
      code: 'REST_TOO_LARGE',
    });
    // Far less than the two gigabytes that the server sends. On a busy machine, V8 frees buffers late.
    expect(process.memoryUsage().rss - before).toBeLessThan(1_000_000_000);
  });

  it('is limited in total time, even if bytes keep arriving', async () => {
    const port = await serve((_request, response) => {
      response.write('[');
      const dripping = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(dripping));
    });
    await expect(fetched(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).rejects.toMatchObject({
      code: expect.stringMatching(/^REST_/),
    });
  });

  it('is limited in header size, idle time and redirects', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/headers') response.setHeader('x-large', 'y'.repeat(1_000_000)).end('[1]');
      else if (request.url !== '/silent') response.writeHead(302, { location: '/round' }).end();
    });
    for (const path of ['headers', 'silent', 'round']) {
      await expect(fetched(`http://127.0.0.1:${port}/${path}`, { timeoutMs: 500 }), path).rejects.toMatchObject({
        code: expect.stringMatching(/^REST_/),
      });
    }
  });
});
