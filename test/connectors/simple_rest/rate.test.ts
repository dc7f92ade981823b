import { expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract } = restBench();

// However slow the machine is, a pause can only become longer, so these tests require only a minimum.
const elapsed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

test('jobs that read a source at the same time share its rate, and login calls count too', async () => {
  server.answer = ({ pathname, searchParams }, response) => {
    if (pathname === '/login') return sendJson(response, { token: 'session-1' });
    const page = Number(searchParams.get('page'));
    sendJson(response, page > 3 ? [] : ids(page, page + 1));
  };
  const auth = { kind: 'login_call', call: { path: '/login' }, token_path: 'token' };
  const source = { requests_per_second: 9, auth };
  const read = async () => {
    expect((await extract({ paging: { kind: 'page' } }, source)).rows).toEqual(numbers(1, 4));
  };
  expect(await elapsed(() => Promise.all([read(), read()]))).toBeGreaterThan(990);
  expect(server.requests).toHaveLength(10);
});

test('a rate below one request per second delays every request', async () => {
  server.answer = ({ searchParams }, response) => sendJson(response, searchParams.get('page') === '1' ? ids(1, 2) : []);
  const read = () => extract({ paging: { kind: 'page' } }, { requests_per_second: 0.8 });
  expect(await elapsed(read)).toBeGreaterThan(1240);
  expect(server.requests).toHaveLength(2);
});

test('a limit that one job has used up also delays the other jobs of the source', async () => {
  const used = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
  const times: number[] = [];
  server.answer = (_, response, number) => {
    times.push(performance.now());
    sendJson(response, ids(1, 2), number === 1 ? used : undefined);
  };
  await extract({});
  await extract({});
  // Measured at the server: between the jobs, this test may be slower than the limit lasts.
  expect(times[1]! - times[0]!).toBeGreaterThan(990);
});
