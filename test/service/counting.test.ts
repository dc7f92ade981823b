import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import { Bench, bench, fixtures, keys, scratch } from './service.ts';

const report = '/usage-overview/api-usage?start_date=0&end_date=4000000000';

async function counted(given: Bench, key: string = keys.acmeAdmin): Promise<number> {
  const { data } = (await given.call('GET', report, { key })).body;
  return Number((data.overview as { api_usage: string }[])[0]!.api_usage);
}

describe('the call counter', () => {
  it('counts each of many concurrent calls, separately per company', async () => {
    const given = await bench();
    const calls = Array.from({ length: 90 }, (_, i) =>
      given.call('GET', '/profile', { key: i % 3 === 0 ? keys.otherAdmin : keys.acmeAdmin }),
    );
    await Promise.all(calls);
    expect([await counted(given), await counted(given, keys.otherAdmin)]).toEqual([61, 31]);
  });

  it('never exceeds the limit, even if calls are concurrent', async () => {
    const company = { ...fixtures.companies[0]!, requests_per_day: 40, requests_per_second: 1000 };
    const clock = new SteppingClock('2026-06-01T12:00:00Z');
    const given = await bench({ limits: true, clock, given: { companies: [company] } });
    const answers = await Promise.all(Array.from({ length: 100 }, () => given.call('GET', '/profile')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    expect(answers.filter(({ body }) => body.meta.error_code === 'daily_limit_reached')).toHaveLength(60);
  });

  it('discards only the count of an account that has just deleted itself', async () => {
    const given = await bench();
    await Promise.all([
      given.call('DELETE', '/clients/bakery'),
      given.call('GET', '/profile', { key: keys.clientAdmin }),
      given.call('GET', '/profile', { key: keys.otherAdmin }),
    ]);
    expect([await counted(given), await counted(given, keys.otherAdmin)]).toEqual([2, 2]);
  });

  it('keeps every call that got a response, even if the process is killed', async () => {
    const folder = await scratch();
    const file = join(folder, 'fixtures.json');
    await writeFile(file, JSON.stringify(fixtures));
    const child = fork(join(import.meta.dirname, 'child.ts'), [join(folder, 'data'), file], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [url] = (await once(child, 'message')) as [string];
    const agent = new Agent({ connections: 8, pipelining: 1 });
    onTestFinished(() => agent.destroy());
    const seen = { sent: 0, answered: 0 };
    const call = async (): Promise<void> => {
      seen.sent++;
      const answer = await request(`${url}/profile`, { dispatcher: agent, headers: { 'kf-api-key': keys.acmeAdmin } });
      await answer.body.dump();
      seen.answered++;
    };
    const callers = Array.from({ length: 8 }, async () => {
      for (;;) await call();
    });
    while (seen.answered < 200 && child.connected) await wait(1);
    child.kill('SIGKILL');
    await Promise.allSettled(callers);
    const service = new Bench(await startService({ data: { folder: join(folder, 'data') }, limits: false }));
    onTestFinished(() => service.close());
    const stored = (await counted(service)) - 1;
    expect(stored).toBeGreaterThanOrEqual(seen.answered);
    expect(stored).toBeLessThanOrEqual(seen.sent);
  });
});
