import { expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract } = restBench();

test("unchanged data isn't downloaded again, because the next run's request contains the last response's validators", async () => {
  server.answer = (_, response) => {
    const { headers } = server.requests.at(-1)!;
    const same =
      headers['if-none-match'] === '"v1"' || headers['if-modified-since'] === 'Thu, 01 Jan 2026 00:00:00 GMT';
    if (same) response.writeHead(304, { etag: '"v1"' }).end();
    else sendJson(response, ids(0, 2), { etag: '"v1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' });
  };
  const query = { path: '/x', conditional: true };
  const first = await extract(query);
  expect(first).toMatchObject({ rows: numbers(0, 2), unchanged: false });
  expect(await extract(query, {}, { watermark: first.watermark! })).toMatchObject({ rows: [], unchanged: true });
  expect(await extract({ ...query, path: '/y' }, {}, { watermark: first.watermark! })).toMatchObject({
    unchanged: false,
  });
  expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"', undefined]);
  const plain = await extract({ path: '/x' }, {}, { watermark: first.watermark! });
  expect(plain).toMatchObject({ rows: numbers(0, 2), watermark: undefined });
});

test("a server that reports no requests left isn't called before its limit resets", async () => {
  const begun: number[] = [];
  server.answer = (_, response, n) => {
    begun.push(performance.now());
    const reset = n === 1 ? '1' : String(Date.now() / 1000 + 0.3);
    const headers: Record<string, string> =
      n === 1
        ? { 'ratelimit-remaining': '0', 'ratelimit-reset': reset }
        : { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    sendJson(response, n < 3 ? ids(n, n + 1) : [], headers);
  };
  await extract({ paging: { kind: 'page' } });
  // Lower bounds are enough, because a slow machine only lengthens the wait.
  expect(begun[1]! - begun[0]!).toBeGreaterThan(950);
  expect(begun[2]! - begun[1]!).toBeGreaterThan(200);
});
