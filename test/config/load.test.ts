import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { variable } from '../../src/config/options/field.ts';
import { configWith, folderWith, goodJob, id, lines, load } from './fixtures.ts';

describe('a valid config', () => {
  it('loads with every default filled in', async () => {
    const { config, problems, warnings, refused } = await load(configWith(goodJob));
    expect({ problems, warnings, refused: [...refused] }).toEqual({ problems: [], warnings: [], refused: [] });
    const job = config!.jobs.get('orders')!;
    expect(job).toMatchObject({
      name: 'orders',
      line: 12,
      target: { kind: 'instance', instance: id('a') },
      enabled: true,
      always: false,
      allowEmpty: false,
    });
    expect(job.schedule).toBeUndefined();
    expect(job.extract).toMatchObject({ query: { sql: 'select 1' }, transforms: [], stallTimeoutMs: 300_000 });
    expect(job.extract!.format.id).toBe('csv');
    expect(job.extract!.source.options).toMatchObject({ host: 'db.example.com', port: 5432, mode: 'fast' });
    expect(job.destination).toMatchObject({
      url: 'http://127.0.0.1:8080/api/1.0',
      credentials: { kind: 'api_key', key: 'abcdefabcdef' },
      requestsPerSecond: 5,
      requestsPerDay: 1000,
      reserveRequests: 0,
      uploadLimitBytes: 10_485_760,
      timeoutMs: 60_000,
      attempts: 8,
    });
    expect(config!.state).toBe(resolve(config!.folder, 'sluice-state'));
  });

  it("loads the monitor's address and its allowed host names", async () => {
    const { config, problems } = await load(configWith(goodJob, 'monitor: {port: 9464, names: [sluice.example.com]}'));
    expect(problems).toEqual([]);
    expect(config!.monitor).toEqual({ host: '127.0.0.1', port: 9464, names: ['sluice.example.com'] });
  });

  it("is read in the unit that each option's name or value contains", async () => {
    const text = `version: 1
keep: { payloads: 7, days: 2 }
disk: { limit_megabytes: 3, free_megabytes: 5 }
destinations:
  main: { url: http://127.0.0.1:8080/api/1.0, api_key: abcdefabcdef, timeout_seconds: 7, upload_limit_bytes: 1234567 }
sources:
  shop: { connector: warehouse, host: db.example.com, check_every: 6h }
alerts:
  channels: { ops: { type: slack, url: https://a.example.com/x } }
  rules: [{ to: [ops] }]
  settle: 45s
  remind: 2d
  stale_after: 3h
  unsent_after: 90m
jobs:
  orders:
    source: shop
    query: select 1
    format: csv
    target: ${id('a')}
    stall_timeout_seconds: 9
    guards:
      bytes: { minimum: 11, maximum: 12 }
      nulls: { a: 5% }
      newest: { column: a, within: 4w }
`;
    const { config, problems } = await load(text);
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      keep: { payloads: 7, milliseconds: 172_800_000 },
      disk: { limitBytes: 3_000_000, freeBytes: 5_000_000 },
      alerts: { settleMs: 45_000, remindMs: 172_800_000, staleAfterMs: 10_800_000, unsentAfterMs: 5_400_000 },
    });
    const { destination, extract, guards } = config!.jobs.get('orders')!;
    expect(destination).toMatchObject({ timeoutMs: 7000, uploadLimitBytes: 1_234_567 });
    expect(extract).toMatchObject({ stallTimeoutMs: 9000, source: { checkEveryMs: 21_600_000 } });
    expect(guards).toMatchObject({
      rowChange: { down: 0.5 },
      bytes: { minimum: 11, maximum: 12 },
      nulls: new Map([['a', 0.05]]),
      newest: { column: 'a', withinMs: 2_419_200_000 },
    });
    const { config: defaults } = await load(configWith(goodJob));
    expect(defaults).toMatchObject({
      keep: { payloads: 3, milliseconds: 35 * 86_400_000 },
      disk: { limitBytes: 10_000_000_000 },
    });
    expect(defaults!.disk?.freeBytes).toBeUndefined();
  });

  it('loads every form of target, format, query and schedule', async () => {
    const { config, problems } = await load(
      configWith(
        `  a:
    source: shop
    query: {sql: select 1, limit: 5}
    transforms: [{select: [id]}, {filter: 'id > 1'}]
    format: {type: csv}
    target: {instance: ${id('a')}, client_id: ${id('c')}}
    schedule: {cron: '0  9 * * MON', timezone: America/New_York}
    stall_timeout_seconds: 0
  b:
    source: shop
    query: select 2
    target:
      datasource: {name: Orders, description: All, format: json, shares: [{group: g1, can_edit: true}, {user: u1}]}
    schedule: '*/15 * * * *'
  c:
    target: {refresh: [${id('d')}]}
    enabled: false
`,
        'timezone: Europe/Berlin',
      ),
    );
    expect(problems).toEqual([]);
    const [a, b, c] = [...config!.jobs.values()];
    expect(a!.target).toEqual({ kind: 'instance', instance: id('a'), clientId: id('c') });
    expect(a!.schedule).toEqual({ cron: '0 9 * * MON', timezone: 'America/New_York' });
    expect(a!.extract).toMatchObject({ timezone: 'America/New_York' });
    expect(a!.extract!.transforms.map(({ transform, given }) => [transform.id, given])).toEqual([
      ['select', ['id']],
      ['filter', 'id > 1'],
    ]);
    expect(a!.extract!.stallTimeoutMs).toBe(0);
    expect(b!.target).toEqual({
      kind: 'datasource',
      declaration: {
        name: 'Orders',
        description: 'All',
        format: 'json',
        shares: [
          { group: 'g1', canEdit: true },
          { user: 'u1', canEdit: false },
        ],
      },
    });
    expect(b!.extract!.format.id).toBe('json');
    expect(b!.schedule).toEqual({ cron: '*/15 * * * *', timezone: 'Europe/Berlin' });
    expect(c).toMatchObject({ target: { kind: 'refresh', datasources: [id('d')] }, enabled: false });
    expect(c!.extract).toBeUndefined();
  });

  it('can be JSON', async () => {
    const text = JSON.stringify({
      destinations: { main: { url: 'https://x.example/api/1.0/', basic: { user: 'u', password: 'pppp' } } },
      jobs: { r: { target: { refresh: [id('a')] } } },
    });
    const { config, problems } = await load(text);
    expect(problems).toEqual([]);
    expect(config!.destinations.get('main')).toMatchObject({
      url: 'https://x.example/api/1.0',
      credentials: { kind: 'basic', user: 'u', password: 'pppp' },
    });
  });

  it("can reuse parts with anchors and merge keys; a map's own value overrides a merged one", async () => {
    const { config, problems } = await load(
      configWith(`  a: &base
    source: shop
    query: select 1
    format: csv
    target: ${id('a')}
    stall_timeout_seconds: 7
  b:
    <<: *base
    target: ${id('b')}
`),
    );
    expect(problems).toEqual([]);
    const b = config!.jobs.get('b')!;
    expect(b.target).toEqual({ kind: 'instance', instance: id('b') });
    expect(b.extract!.stallTimeoutMs).toBe(7000);
  });

  it('has one account for destinations with the same URL and key, and separate accounts for others', async () => {
    const destination = (name: string, more: string) => `  ${name}: {url: https://x.example/api/1.0, ${more}}\n`;
    const { config } = await load(
      `destinations:\n${destination('a', 'api_key: k1k1k1')}${destination('b', 'api_key: k1k1k1, client_id: x1')}${destination(
        'c',
        'api_key: k2k2k2',
      )}${destination('d', 'api_key: k3k3k3, account: agency')}jobs: {r: {destination: a, target: {refresh: [${id('a')}]}}}`,
    );
    const account = (name: string) => config!.destinations.get(name)!.account;
    expect(account('a')).toBe(account('b'));
    expect(account('a')).not.toBe(account('c'));
    expect(account('a')).not.toContain('k1k1k1');
    expect(account('d')).toBe('agency');
  });

  it('has two accounts for one key at two services, but one account per user, even with different passwords', async () => {
    const [url, elsewhere] = ['https://x.example/api/1.0', 'https://y.example/api/1.0'];
    const destinations = {
      ada: { url, basic: { user: 'ada', password: 'p4ss' } },
      same: { url, basic: { user: 'ada', password: 'other' } },
      bob: { url, basic: { user: 'bob', password: 'p4ss' } },
      there: { url: elsewhere, basic: { user: 'ada', password: 'p4ss' } },
      key: { url, api_key: 'k1k1k1' },
      other: { url: elsewhere, api_key: 'k1k1k1' },
    };
    const jobs = { r: { destination: 'ada', target: { refresh: [id('a')] } } };
    const { config } = await load(JSON.stringify({ destinations, jobs }));
    const accounts = Object.fromEntries([...config!.destinations.values()].map(({ name, account }) => [name, account]));
    expect(accounts.ada).toBe(accounts.same);
    expect(new Set(Object.values(accounts)).size).toBe(5);
  });

  it("causes a warning if an account is named after a destination but isn't shared", async () => {
    const two = (own: string) => `destinations:
  a: {url: http://127.0.0.1/api/1.0, api_key: k1k1k1${own}}
  b: {url: http://127.0.0.1/api/1.0, api_key: k2k2k2, account: a}
jobs: {r: {destination: a, target: {refresh: [${id('a')}]}}}
`;
    const { warnings } = await load(two(''));
    expect(warnings).toMatchObject([
      { code: 'CONFIG_ACCOUNT', where: { line: 3 }, next: 'write "account: a" in the "a" destination too' },
    ]);
    expect((await load(two(', account: a'))).warnings).toEqual([]);
  });
});

describe('an unusable config file', () => {
  it("is reported with the error's line if its YAML is invalid", async () => {
    const { config, problems } = await load('version: 1\njobs:\n  a: [1, 2\n  b: 3\n');
    expect(config).toBeUndefined();
    expect(problems[0]!.code).toBe('CONFIG_SYNTAX');
    expect(problems[0]!.where.line).toBeGreaterThanOrEqual(3);
  });

  it('causes an error that shows where to add quotes to an unquoted cron expression', async () => {
    const { problems } = await load(configWith(`${goodJob}    schedule: */15 * * * *\n`));
    expect(problems[0]).toMatchObject({ code: 'CONFIG_SYNTAX', where: { line: 17 } });
    expect(problems[0]!.next).toContain('schedule: "*/15 * * * *"');
    const braces = 'jobs:\n  a: { source: shop, schedule: */5 6-18 * * MON-FRI, format: csv }\n';
    expect((await load(braces)).problems[0]!.next).toContain('schedule: "*/5 6-18 * * MON-FRI"');
    expect((await load('jobs: { a: { schedule: @daily } }\n')).problems[0]!.next).toContain('schedule: "@daily"');
  });

  it('causes an error that shows where to add quotes to an unquoted variable in braces', async () => {
    const { problems } = await load(
      `destinations:\n  main: {url: http://x/api/1.0, api_key: ${variable('KEY')}}\njobs: {}\nsources: {a: b}\n`,
    );
    expect(problems, 'not one for each word of the rest of the file').toHaveLength(1);
    expect(problems[0]!.next).toContain(`"${variable('KEY')}"`);
  });

  it("is rejected if it's empty, a list or missing", async () => {
    expect((await load('')).problems.map(({ code }) => code)).toEqual(['CONFIG_EMPTY']);
    expect((await load('- a\n')).problems.map(({ code }) => code)).toEqual(['CONFIG_SYNTAX']);
    const { loadConfig } = await import('../../src/config/load.ts');
    const [absent] = (await loadConfig('/nowhere/sluice.yaml')).problems;
    expect(absent).toMatchObject({ code: 'CONFIG_UNREADABLE', next: expect.stringContaining('sluice init') });
  });

  it("is rejected with the line that isn't valid UTF-8, instead of loading garbled names", async () => {
    const { loadConfig } = await import('../../src/config/load.ts');
    const text = configWith(goodJob.replace('orders', 'über'));
    const refusal = async (encoding: 'latin1' | 'utf16le') => {
      const folder = await folderWith({ 'sluice.yaml': Buffer.from(text, encoding) });
      return (await loadConfig(join(folder, 'sluice.yaml'))).problems;
    };
    const line = text.split('\n').findIndex((words) => words.includes('über')) + 1;
    expect(await refusal('latin1')).toMatchObject([{ code: 'CONFIG_NOT_UTF8', where: { line } }]);
    expect(await refusal('utf16le')).toMatchObject([{ code: 'CONFIG_NOT_UTF8', seen: 'zero bytes, as in UTF-16' }]);
  });

  it("is reported, with a fix, if it's a folder", async () => {
    const { loadConfig } = await import('../../src/config/load.ts');
    const { problems } = await loadConfig(await folderWith({}));
    expect(problems).toMatchObject([{ code: 'CONFIG_UNREADABLE', next: 'set a file in this folder with --config' }]);
  });

  it('is reported with both lines of a duplicate key', async () => {
    const { config, problems } = await load(configWith(`${goodJob}    format: json\n`));
    expect(config).toBeUndefined();
    expect(lines(problems)).toEqual(['17:5 CONFIG_DUPLICATE_KEY']);
    expect(problems[0]!.seen).toBe('first defined on line 15');
  });

  it('is rejected if its aliases are circular or expand without limit', async () => {
    expect((await load('jobs: &a\n  x: *a\n')).problems.map(({ code }) => code)).toContain('CONFIG_ALIASES');
    const bomb = Array.from({ length: 12 }, (_, i) => `x${i}: &x${i} [${Array(9).fill(i === 0 ? '1' : `*x${i - 1}`)}]`);
    expect((await load(bomb.join('\n'))).problems.map(({ code }) => code)).toContain('CONFIG_ALIASES');
  });

  it('is reported if it contains an integer too large to be stored exactly', async () => {
    const { problems } = await load(configWith(goodJob.replace('select 1', '12345678901234567890')));
    expect(problems).toMatchObject([{ code: 'CONFIG_NUMBER', next: 'put it in quotes: "12345678901234567890"' }]);
  });
});
