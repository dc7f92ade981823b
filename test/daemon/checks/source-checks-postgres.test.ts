import pg from 'pg';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { Alerts } from '../../../src/config/alerts.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { ConditionScanner } from '../../../src/daemon/alerting/condition-scanner.ts';
import { SourceChecks } from '../../../src/daemon/checks/source-checks.ts';
import type { SluiceEvents } from '../../../src/daemon/events.ts';
import { LoginBreaker } from '../../../src/daemon/login-holds/login-breaker.ts';
import { Events } from '../../../src/lib/events.ts';
import { quietLog } from '../../../src/lib/log.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { writeConfig } from '../../journey/home.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { describeWithServer } from '../../servers/describe.ts';
import type { TestServer } from '../../servers/server.ts';
import { cleanUp, newStore } from '../../state/fixtures.ts';

afterEach(cleanUp);

const minute = 60_000;

async function administer({ url }: TestServer, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A config with a job that reads this database once a month, and an hourly source check. */
async function configFor(url: string): Promise<Config & { alerts: Alerts }> {
  const file = await writeConfig(await makeFolder(), {
    destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: 'abcdefabcdef' } },
    sources: { shop: { connector: 'db', url, check_every: '1h' } },
    alerts: { channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:1/', secret: `whsec_${'A'.repeat(32)}` } } },
    jobs: {
      monthly: { source: 'shop', query: 'select 1', format: 'csv', target: 'a'.repeat(32), schedule: '0 6 1 * *' },
    },
  });
  const { config, problems } = await loadConfig(file);
  expect(problems).toEqual([]);
  return config as Config & { alerts: Alerts };
}

describeWithServer({ servers: 'PostgreSQL' }, 'checks of a PostgreSQL database', (server) => {
  it('notice a refused login, report which run will fail and when, and notice when the login works again', async () => {
    await administer(server(), "create role reader login password 'reader-secret'");
    const url = new URL(server().url);
    [url.username, url.password] = ['reader', 'reader-secret'];
    const config = await configFor(url.href);
    const clock = new SteppingClock(noon, { manual: true });
    const store = await newStore({ clock });
    const events = new Events<SluiceEvents>();
    const heard: string[] = [];
    events.listen((...[name]) => {
      heard.push(name);
    });
    const loginGate = new LoginBreaker({ store, clock, emit: events.emit, ...config });
    const runtime = { store, events, clock, log: quietLog, loginGate };
    const checks = new SourceChecks({ runtime, config: () => config });
    onTestFinished(() => checks.stop());
    const lookout = new ConditionScanner();
    const wrong = async () =>
      (await lookout.scan({ config, alerts: config.alerts, store, clock, liveness: undefined })).conditions;
    /**
     * Waits for this many events with this name. The clock hardly advances meanwhile: a source may take a minute to
     * respond, which is longer than this function waits.
     */
    const hear = (name: string, count: number) => {
      let looks = 0;
      return until(`${count} events ${name}`, () => {
        if (++looks % 20 === 0) clock.advance(1_000);
        return heard.filter((one) => one === name).length >= count;
      });
    };

    checks.start({ probe: false });
    await hear('source.answered', 1);
    expect(await wrong()).toEqual([]);
    await administer(server(), 'alter role reader nologin');
    clock.advance(50 * minute);
    expect(await wrong()).toEqual([]);
    clock.advance(10 * minute);
    await hear('source.failed', 1);
    expect(await wrong()).toMatchObject([
      {
        subject: 'source:shop',
        occasion: 'source',
        to: ['ops'],
        what: expect.stringMatching(/^the next run of monthly at 2026-07-01 06:00:00Z will fail: .*reader/),
      },
    ]);
    expect(JSON.stringify(await store.settings.below('check:'))).not.toContain('reader-secret');
    await administer(server(), 'alter role reader login');
    clock.advance(15 * minute);
    await hear('source.answered', 2);
    expect(await wrong()).toEqual([]);
  });
});
