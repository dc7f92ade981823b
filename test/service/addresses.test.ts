import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fetchDatasource } from '../../connectors/simple_rest/index.ts';
import { type AddressPolicy, addressPolicy } from '../../src/service/refresh/address-policy.ts';
import { pullDatasource } from './pull-built.ts';
import { type Bench, bench } from './service.ts';

/** The test's own server; it counts connections. */
async function target(answer: (path: string) => { status: number; location?: string }): Promise<{
  port: number;
  asked: string[];
}> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url!);
    const { status, location } = answer(request.url!);
    response.writeHead(status, location === undefined ? {} : { location }).end('[1]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { port: (server.address() as AddressInfo).port, asked };
}

const fetched = async (endpoint_url: string, mayReach: AddressPolicy): Promise<string> => {
  const limits = { signal: AbortSignal.timeout(200_000), timeoutMs: 10_000, maxBytes: 1000, mayReach };
  return Buffer.concat(await Array.fromAsync(fetchDatasource({ endpoint_url }, limits))).toString();
};

const shared = addressPolicy({ host: '0.0.0.0', allowPrivate: false });
const own = addressPolicy({ host: '127.0.0.1', allowPrivate: false });
const open = addressPolicy({ host: '0.0.0.0', allowPrivate: true });

const loopback = ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
const near = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'ff02::1',
  '::ffff:10.0.0.1',
  '::10.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '2001:0:7f00:1::1',
  '2001:db8::1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '2002:7f00:1::',
];
const far = ['1.1.1.1', '172.15.0.1', '172.32.0.1', '192.169.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'];

describe('the address policy of refreshes', () => {
  it('always allows public addresses', () => {
    for (const policy of [shared, own, open]) expect(far.filter((address) => !policy(address))).toEqual([]);
  });

  it('blocks loopback, link-local and private addresses if other machines can reach the service', () => {
    expect([...loopback, ...near].filter(shared)).toEqual([]);
  });

  it('lets a service on loopback reach only loopback addresses', () => {
    expect(loopback.filter((address) => !own(address))).toEqual([]);
    expect(near.filter(own)).toEqual([]);
    for (const host of ['localhost', '::1', '127.0.0.2']) {
      expect(addressPolicy({ host, allowPrivate: false })('127.0.0.1')).toBe(true);
    }
    for (const host of ['192.168.1.5', '::', 'example.test']) {
      expect(addressPolicy({ host, allowPrivate: false })('127.0.0.1')).toBe(false);
    }
  });

  it('allows all addresses if configured', () => {
    expect([...loopback, ...near].filter((address) => !open(address))).toEqual([]);
  });
});

describe('fetching under a policy', () => {
  it('rejects a blocked address in any notation, and a name that resolves to one', async () => {
    const { port, asked } = await target(() => ({ status: 200 }));
    const hosts = ['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]', 'localhost', '127.1'];
    for (const host of hosts) {
      await expect(fetched(`http://${host}:${port}/`, shared), host).rejects.toMatchObject({
        code: 'REST_ADDRESS_REFUSED',
      });
    }
    expect(asked).toEqual([]);
    expect(await fetched(`http://localhost:${port}/`, own)).toBe('[1]');
  });

  it("checks a redirect's target again", async () => {
    const elsewhere = await target(() => ({ status: 200 }));
    const { port, asked } = await target((path) => {
      if (path === '/same') return { status: 302, location: '/end' };
      return path === '/other' ? { status: 302, location: `http://127.0.0.1:${elsewhere.port}/` } : { status: 200 };
    });
    expect(await fetched(`http://127.0.0.1:${port}/same`, own)).toBe('[1]');
    await expect(fetched(`http://127.0.0.1:${port}/other`, own)).rejects.toMatchObject({ code: 'REST_ORIGIN' });
    let calls = 0;
    const once: AddressPolicy = () => ++calls === 1;
    await expect(fetched(`http://127.0.0.1:${port}/same`, once)).rejects.toMatchObject({
      code: 'REST_ADDRESS_REFUSED',
    });
    expect([asked, elsewhere.asked]).toEqual([['/same', '/end', '/other', '/same'], []]);
  });

  it("doesn't reveal which address a name resolves to", async () => {
    const thrown = (await fetched('http://localhost:1/', shared).catch((error: unknown) => error)) as Error;
    expect(JSON.stringify(thrown) + thrown.message).not.toMatch(/127\.0\.0\.1|::1/);
  });
});

describe('a service', () => {
  const outcome = async (given: Bench, endpoint_url: string): Promise<[number, string | null]> => {
    const id = await given.source({ properties: { endpoint_url } });
    await given.call('POST', `/datasource-instances/${id}/@/refresh`);
    for (;;) {
      const { data } = (await given.call('GET', `/datasource-instances/${id}`)).body;
      if (data.refresh_fail_count !== 0) return [Number(data.refresh_fail_count), String(data.last_error)];
      if (data.data_size !== 0) return [0, null];
      await wait(10);
    }
  };
  const refused = [1, expect.stringContaining('requests to this address are not allowed here')];

  it('on loopback fetches from loopback, but not from other private addresses', async () => {
    const { port } = await target(() => ({ status: 200 }));
    const given = await bench({ pull: pullDatasource });
    expect(await outcome(given, `http://127.0.0.1:${port}/`)).toEqual([0, null]);
    expect(await outcome(given, 'http://169.254.169.254/latest/meta-data/')).toEqual(refused);
  });

  it("that other machines can reach fetches from loopback only if that's allowed", async () => {
    const { port, asked } = await target(() => ({ status: 200 }));
    const closed = await bench({ pull: pullDatasource, host: '0.0.0.0' });
    expect(await outcome(closed, `http://127.0.0.1:${port}/`)).toEqual(refused);
    expect(asked).toEqual([]);
    const allowing = await bench({ pull: pullDatasource, host: '0.0.0.0', allowPrivateAddresses: true });
    expect(await outcome(allowing, `http://127.0.0.1:${port}/`)).toEqual([0, null]);
  });
});
