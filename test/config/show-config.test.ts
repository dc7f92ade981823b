import { describe, expect, it } from 'vitest';
import { variable } from '../../src/config/options/field.ts';
import { type ShownConfig, showConfig } from '../../src/config/show/show-config.ts';
import { redact } from '../../src/lib/redact.ts';
import { id, load } from './fixtures.ts';

/** This text's resolved form, with these variables and the fixtures' connectors. */
async function shown(
  text: string,
  env: Record<string, string> = {},
): Promise<ShownConfig & { readonly state: string }> {
  const { config, made, problems } = await load(text, { env });
  expect(problems).toEqual([]);
  return { ...showConfig(config!, made!), state: config!.state };
}

const text = `version: 1
timezone: Europe/Berlin
schedules: { overlap: buffer_one }
guards: { rows: { minimum: 7 } }
destinations:
  main:
    url: http://127.0.0.1:8080/api/1.0
    api_key: ${variable('KEY')}
    attempts: 3
sources:
  shop:
    connector: warehouse
    host: ${variable('HOST')}
    password: ${variable('PASSWORD:-hunter2-by-default')}
    auth: { token: abc, realm: here }
    headers: { x-token: tok, accept: text/plain }
jobs:
  orders:
    source: shop
    query: ${variable('SQL')}
    format: csv
    target: ${id('a')}
    schedule: every 15m
`;
const env = { KEY: 'abcdefabcdef', HOST: 'db.example.com', SQL: 'select 1' };

describe('the config that `sluice config` shows', () => {
  it('contains every default, including those of connectors, formats and short forms', async () => {
    const { values, state } = await shown(text, env);
    expect(values).toMatchObject({
      version: 1,
      state,
      concurrency: 4,
      keep: { payloads: 3, days: 35 },
      destinations: { main: { attempts: 3, requests_per_second: 5, timeout_seconds: 60 } },
      sources: { shop: { host: 'db.example.com', port: 5432, mode: 'fast', compress: false } },
      jobs: {
        orders: {
          query: { sql: 'select 1' },
          format: { type: 'csv', delimiter: ',', header: true },
          target: { instance: id('a') },
          write: { disposition: 'replace' },
          enabled: true,
          priority: 'normal',
        },
      },
    });
  });

  it("shows a job's inherited values, and where they come from", async () => {
    const { values, from } = await shown(text, env);
    expect(values.jobs).toMatchObject({
      orders: {
        destination: 'main',
        schedule: { every: '15m', timezone: 'Europe/Berlin', misfire: 'run_once', overlap: 'buffer_one' },
        guards: { rows: { minimum: 7 }, row_change: { down: '50%', from: 100 } },
      },
    });
    expect(from).toMatchObject({
      '/jobs/orders/destination': 'the only destination',
      '/jobs/orders/schedule/every': 'line 23',
      '/jobs/orders/schedule/timezone': 'timezone, line 2',
      '/jobs/orders/schedule/overlap': 'schedules.overlap, line 3',
      '/jobs/orders/guards/rows': 'line 4',
    });
    expect(from).not.toHaveProperty('/jobs/orders/schedule/misfire');
    expect(from).not.toHaveProperty('/jobs/orders/guards/row_change');
  });

  it.each(['every 15m', 'at 06:00', '{ every: 15m, misfire: { policy: run_all, at_most: 3 } }'])(
    'contains only options with a value for the schedule %s',
    async (schedule) => {
      const { values } = await shown(text.replace('every 15m', schedule), env);
      expect(values).toStrictEqual(JSON.parse(JSON.stringify(values)));
    },
  );

  it('names the line and the variable that set a value, but neither for a default', async () => {
    const { from } = await shown(text, env);
    expect(from).toMatchObject({
      '/timezone': 'line 2',
      '/destinations/main/attempts': 'line 9',
      '/sources/shop/host': `line 13, ${variable('HOST')}`,
      '/jobs/orders/query/sql': `line 20, ${variable('SQL')}`,
    });
    for (const path of ['/concurrency', '/sources/shop/port', '/jobs/orders/enabled'])
      expect(from).not.toHaveProperty([path]);
  });

  it('hides secrets, including short ones and variable defaults, and names their variables', async () => {
    const { values, from } = await shown(text, env);
    expect(values.destinations).toMatchObject({ main: { api_key: '[redacted]' } });
    expect(values.sources).toMatchObject({
      shop: {
        password: '[redacted]',
        auth: { token: '[redacted]', realm: 'here' },
        headers: { 'x-token': '[redacted]', accept: 'text/plain' },
      },
    });
    expect(from).toMatchObject({
      '/destinations/main/api_key': `line 8, ${variable('KEY')}`,
      '/sources/shop/password': 'line 14',
    });
    const all = JSON.stringify({ values, from });
    for (const secret of ['abcdefabcdef', 'hunter2', '"abc"', '"tok"']) expect(all).not.toContain(secret);
    expect(redact(all)).toBe(all);
  });

  it('says if a job has no guards or no schedule', async () => {
    const bare = text.replace('    schedule: every 15m', '    guards: false');
    const { values, from } = await shown(bare, env);
    expect(values.jobs).toMatchObject({ orders: { guards: false, schedule: 'manual' } });
    expect(from).toMatchObject({ '/jobs/orders/guards': 'line 23' });
  });

  it("omits the jobs that can't run", async () => {
    const broken = text.replace('source: shop', 'source: shup');
    const { config, made } = await load(broken, { env });
    expect(showConfig(config!, made!).values.jobs).toEqual({});
  });
});
