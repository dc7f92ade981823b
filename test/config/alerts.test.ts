import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { limitsOf, routeOf } from '../../src/daemon/alerting/route.ts';
import { staleAfterOf } from '../../src/daemon/conditions/limits.ts';
import { redact } from '../../src/lib/redact.ts';
import { folderWith } from './fixtures.ts';

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

const hook = { HOOK: 'https://hooks.example.com/very-secret' };

async function load(
  alerts: object | undefined,
  job: object = {},
  more: object = {},
  env: Record<string, string> = hook,
) {
  const text = JSON.stringify(
    {
      version: 1,
      ...more,
      destinations: { main: { url: 'https://app.example.com/api/1.0', api_key: 'a'.repeat(40) } },
      sources: { files: { connector: 'file' } },
      ...(alerts === undefined ? {} : { alerts }),
      jobs: { orders: { source: 'files', query: 'a.csv', format: 'csv', target: 'ab'.repeat(16), ...job } },
    },
    undefined,
    1,
  );
  const folder = await folderWith({ 'sluice.yaml': text });
  return loadConfig(`${folder}/sluice.yaml`, { env });
}

const codes = async (...given: Parameters<typeof load>) =>
  (await load(...given)).problems.map(({ code, message }) => `${code}: ${message}`);

const webhook = { type: 'webhook', url: 'https://alerts.example.com/x', secret };
const chat = { type: 'slack', url: `\${env:HOOK}` };

describe('alerts in the config', () => {
  it('with an invalid key are rejected with advice on how to create a key, not only where to put it', async () => {
    const { problems } = await load({
      channels: { ops: { ...webhook, secret: 'whsec_short' } },
      rules: [{ to: ['ops'] }],
    });
    expect(problems.map(({ allowed }) => allowed)).toEqual([
      'Key that signs each request: `whsec_` followed by 24 to 64 random bytes in base64.',
    ]);
  });

  it('are loaded completely, with defaults, and their secrets are registered', async () => {
    const { config, problems } = await load({
      channels: { ops: webhook, chat },
      rules: [{ to: ['ops'] }],
      settle: '5s',
    });
    expect(problems).toEqual([]);
    expect(config?.alerts).toMatchObject({
      firstFailure: true,
      afterFailures: 3,
      remindMs: 86_400_000,
      settleMs: 5_000,
      quotaLeft: 0.1,
      recovery: true,
      rules: [{ to: ['ops'] }],
    });
    expect(config?.alerts?.channels.get('chat')).toMatchObject({ type: 'slack', timeoutMs: 15_000 });
    expect(redact(`${secret} https://hooks.example.com/very-secret https://alerts.example.com/x`)).toBe(
      '[redacted] [redacted] [redacted]',
    );
  });

  it("register a secret URL's path and query values as secrets", async () => {
    const env = { HOOK: 'https://hooks.example.com/services/T00000000/B11111111111?key=0123456789abcdef&wait=true' };
    await load({ channels: { chat }, rules: [{ to: ['chat'] }] }, {}, {}, env);
    const path = '/services/T00000000/B11111111111';
    expect(redact(`no hook at ${path}?key=0123456789abcdef&wait=true`)).toBe('no hook at [redacted]');
    expect(redact('no hook B11111111111')).toBe('no hook [redacted]');
    expect(redact('bad key 0123456789abcdef')).toBe('bad key [redacted]');
    expect(redact('wait=true, services, hooks.example.com')).toBe('wait=true, services, hooks.example.com');
  });

  it('are undefined if the config has none or if the job disables them', async () => {
    expect((await load(undefined)).config?.alerts).toBeUndefined();
    const { config } = await load({ channels: { ops: webhook } }, { alerts: false });
    expect(config?.jobs.get('orders')?.alerts).toBe(false);
  });

  it('are rejected with all their errors: wrong types, invalid options, unknown channels', async () => {
    const faults = await codes(
      {
        channels: {
          ops: { type: 'webhook', url: 'ftp://x', secret: 'short' },
          mail: { type: 'mail' },
          chat: { type: 'slack' },
        },
        rules: [{ on: ['faild'], to: ['opps'] }],
        remind: 'daily',
      },
      { alerts: { stale_after: 2, to: ['cat'] } },
    );
    expect(faults).toHaveLength(9);
    expect(faults.join('\n')).toMatch(/"opps"[\s\S]*"cat"/);
    expect(faults.join('\n')).not.toContain('short');
  });

  it('cause a warning if a name matches no job', async () => {
    const alive = { type: 'heartbeat', url: 'https://hc.example.com/x', jobs: ['orders', 'order'] };
    const rules = [
      { jobs: ['orders', 'ord*'], to: ['ops'] },
      { jobs: ['oders', 'stock*'], to: ['ops'] },
    ];
    const { warnings, problems } = await load({ channels: { ops: webhook, alive }, rules });
    expect(problems).toEqual([]);
    expect(warnings).toMatchObject([
      { code: 'CONFIG_NO_SUCH_JOB', seen: 'order', allowed: 'orders', next: 'did you mean "orders"?' },
      { code: 'CONFIG_NO_SUCH_JOB', seen: 'oders', next: 'did you mean "orders"?' },
      { code: 'CONFIG_NO_SUCH_JOB', seen: 'stock*', allowed: 'orders' },
    ]);
  });

  it("can't run a command unless commands are allowed", async () => {
    const channels = { pager: { type: 'command', command: ['./page'] } };
    expect(await codes({ channels })).toEqual(['CONFIG_COMMANDS_REFUSED: Commands are not allowed in this config']);
    expect(await codes({ channels }, {}, { allow_commands: true })).toEqual([]);
  });

  it('are rejected if their only channel is a heartbeat, or if a job has alerts but there is no channel', async () => {
    const channels = { alive: { type: 'heartbeat', url: 'https://hc.example.com/x' } };
    expect(await codes({ channels, rules: [{ to: ['alive'] }] })).toEqual([
      'CONFIG_UNKNOWN_CHANNEL: "alive" is a heartbeat channel and does not accept alerts',
    ]);
    expect(await codes(undefined, { alerts: { remind: '1h' } })).toEqual([
      'CONFIG_ALERTS: This job has alerts, but the config has no alert channels',
    ]);
  });
});

describe('docs/alerts.md', () => {
  it('shows only channels and rules that load without errors', async () => {
    const page = await readFile(new URL('../../docs/alerts.md', import.meta.url), 'utf8');
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => parse(text!) as { alerts?: object });
    const shown = blocks.flatMap(({ alerts }) => (alerts === undefined ? [] : [alerts]));
    expect(shown).toHaveLength(2);
    const env = { SLUICE_ALERT_SECRET: secret, SLACK_WEBHOOK: 'https://h.example', SMTP_PASSWORD: 'password' };
    for (const alerts of shown) {
      const { problems } = await load(
        alerts,
        {},
        { allow_commands: true },
        { ...env, HEARTBEAT_URL: 'https://b.example', TEAMS_WORKFLOW: 'https://t.example' },
      );
      expect(problems).toEqual([]);
    }
  });
});

describe("an alert's channels", () => {
  it("are the job's own, or those of every matching rule, or all channels if there are no rules", async () => {
    const channels = { ops: webhook, chat, alive: { type: 'heartbeat', url: 'https://hc.example.com/x' } };
    const route = async (alerts: object, job: object, occasion: 'stale' | 'quota') => {
      const { config, problems } = await load({ channels, ...alerts }, job);
      expect(problems).toEqual([]);
      const orders = config!.jobs.get('orders')!;
      return routeOf({ occasion, ...(occasion === 'quota' ? {} : { job: orders }) }, config!.alerts!);
    };
    expect(await route({}, {}, 'stale')).toEqual(['chat', 'ops']);
    const rules = [
      { on: ['stale'], to: ['ops'] },
      { jobs: ['ord*'], to: ['chat'] },
      { jobs: ['stock'], to: ['ops'] },
    ];
    expect(await route({ rules }, {}, 'stale')).toEqual(['chat', 'ops']);
    expect(await route({ rules: rules.slice(1) }, {}, 'stale')).toEqual(['chat']);
    expect(await route({ rules }, {}, 'quota')).toEqual([]);
    expect(await route({ rules }, { alerts: { to: ['ops'] } }, 'stale')).toEqual(['ops']);
  });
});

it("a job that overrides one alert limit keeps the other limits of the config's alerts section", async () => {
  const { config } = await load({ channels: { ops: webhook }, stale_after: '2h' }, { alerts: { after_failures: 5 } });
  const job = config!.jobs.get('orders')!;
  expect(limitsOf(job, config!.alerts!)).toMatchObject({ afterFailures: 5, staleAfterMs: 2 * 3_600_000 });
  expect(staleAfterOf(job, config!)).toBe(2 * 3_600_000);
});
