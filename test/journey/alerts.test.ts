import { describe, expect, it } from 'vitest';
import { isSigned, openReceiver, type Received, secret } from '../alerts/receiver.ts';
import { adminKey, makeWorld } from './world.ts';

/** A job that reads a file, and a webhook that receives its alerts. */
async function setUp(more: object = {}, job: object = {}) {
  const world = await makeWorld({ serve: ['--no-limits'] });
  const home = await world.home();
  const receiver = await openReceiver();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    alerts: { channels: { ops: { type: 'webhook', url: receiver.url, secret } }, ...more },
    jobs: {
      orders: { source: 'files', query: 'orders.csv', format: 'csv', target: world.instances.csv, ...job },
    },
  });
  const repair = () => home.write('orders.csv', 'id,total\n1,9.50\n');
  return { world, home, receiver, repair };
}

const dataOf = ({ text }: Received) => (JSON.parse(text) as { data: Record<string, unknown> }).data;

describe('alerts from one-shot syncs', () => {
  it('report a failure once, with a signature and the fix', async () => {
    const { home, receiver, repair } = await setUp();
    for (let n = 0; n < 2; n++) await home.syncHere();
    expect(receiver.titles()).toEqual(['orders failed']);
    const [first] = receiver.got;
    expect(isSigned(first!)).toBe(true);
    expect(isSigned({ ...first!, text: `${first!.text} ` })).toBe(false);
    const data = dataOf(first!);
    expect(data).toMatchObject({ occasion: 'failed', open: 1, alerts: [{ job: 'orders', fix: expect.any(String) }] });
    expect(data.text).toMatch(
      /what .*orders\.csv.*\nsince .*\ndashboard shows no data from this config yet\nnext .*\nfix /,
    );
    await repair();
    await home.syncHere();
    expect((await home.sluice(['alerts'])).stdout).toContain('No open alerts');
    expect((await home.sluice(['alerts', 'test'])).stdout).toBe('ok   ops (webhook): HTTP 200: thanks\n');
  });

  it('combine failures into one message, and `sluice status` shows a failing channel', async () => {
    const { world, home, receiver } = await setUp();
    receiver.answer(500);
    const job = { source: 'files', format: 'csv' };
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      alerts: { channels: { ops: { type: 'webhook', url: receiver.url, secret } } },
      jobs: {
        orders: { ...job, query: 'gone.csv', target: world.instances.csv },
        stock: { ...job, query: 'gone-too.csv', target: await world.instance() },
      },
    });
    expect((await home.syncHere()).code).toBe(1);
    expect(receiver.titles()).toEqual(['2 jobs failed']);
    const status = (await home.sluice(['status'])).stdout;
    expect(status).toContain('"sluice explain orders" shows the cause and the fix; the same for stock.');
    expect(status).toContain('2 of 2 jobs need attention; 1 other problem.');
    expect(status).toContain(
      'the ops alert channel is failing: HTTP 500: not now; 1 message is waiting. Fix: sluice alerts test ops',
    );
    const listed = JSON.parse((await home.sluice(['alerts', '--json'])).stdout) as Record<string, unknown[]>;
    expect(listed).toMatchObject({
      open: [{ subject: 'job:orders' }, { subject: 'job:stock' }],
      channels: [{ channel: 'ops', waiting: 1, problem: 'HTTP 500: not now' }],
      messages: [{ title: '2 jobs failed', state: 'waiting', attempts: 1 }],
    });
    const { stdout } = await home.sluice(['alerts']);
    expect(stdout).toMatch(/How to fix it:\n {2}failed orders: .*then sluice sync orders\n {2}failed stock: /);
    expect((await home.sluice(['alerts', 'test', 'ops'])).code).toBe(1);
    expect((await home.sluice(['alerts', 'test', 'opps'])).stderr).toContain('did you mean "ops"?');
    receiver.answer(200);
    expect((await home.sluice(['alerts', 'test'])).stdout).toContain('one waiting message goes out');
    await home.syncHere();
    expect(JSON.parse((await home.sluice(['alerts', '--json'])).stdout)).toMatchObject({ channels: [{ waiting: 0 }] });
  });

  it('send a heartbeat only when a listed job succeeds', async () => {
    const beats = await openReceiver();
    const { home, repair } = await setUp({
      channels: { alive: { type: 'heartbeat', url: beats.url, jobs: ['orders'] } },
    });
    await home.syncHere();
    expect(beats.got).toEqual([]);
    await repair();
    await home.syncHere();
    await home.syncHere();
    expect(beats.got.map(({ method }) => method)).toEqual(['GET', 'GET']);
    beats.answer(410);
    await home.syncHere();
    expect(JSON.parse((await home.sluice(['alerts', '--json'])).stdout)).toMatchObject({
      channels: [{ channel: 'alive', waiting: 0, sent_at: expect.any(String), problem: expect.stringMatching('410') }],
    });
    expect((await home.sluice(['status'])).stdout).toContain('the alive heartbeat is failing: ');
    beats.answer(200);
    await home.syncHere();
    expect((await home.sluice(['status'])).stdout).not.toContain('heartbeat');
  });
});
