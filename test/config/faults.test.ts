import { describe, expect, it } from 'vitest';
import { formatById, formats } from '../../src/formats/index.ts';
import type { Problem } from '../../src/lib/problem.ts';
import { configWith, goodJob, id, lines, load } from './fixtures.ts';

/** The parts of a problem that a user reads, without its location. */
function said({ code, message, seen, allowed, next }: Problem): object {
  return JSON.parse(JSON.stringify({ code, message, seen, allowed, next }));
}

async function only(text: string): Promise<object> {
  const { problems } = await load(text);
  expect(problems).toHaveLength(1);
  return said(problems[0]!);
}

const job = (more: string, without: RegExp = /^$/) =>
  configWith(
    goodJob
      .split('\n')
      .filter((line) => !without.test(line.trim()) || line.trim() === '')
      .join('\n') + more,
  );

describe('the config check', () => {
  it('finds all errors at once, in line order, each with line and column', async () => {
    const { config, problems, refused } = await load(`version: 1
destinations:
  main:
    url: https://app.example.com
    api_kee: abcdef
    requests_per_second: 9
sources:
  shop: {connector: warehose}
  depot:
    connector: warehouse
    port: 0
jobs:
  orders:
    source: shp
    format: cvs
    target: {instance: ${id('a')}, refresh: [${id('b')}]}
    destination: mian
    schedule: '61 * * * *'
    transforms: [{selct: [a]}, {filter: 'a >> b'}]
    shedule: x
  stock:
    source: depot
    query: {limit: 0}
    format: {type: csv, delimter: ';'}
    target: ${id('c')}
`);
    expect(lines(problems)).toEqual([
      '4:10 CONFIG_URL',
      '5:5 CONFIG_UNKNOWN_OPTION',
      '6:26 CONFIG_WRONG_VALUE',
      '8:21 CONFIG_UNKNOWN_CONNECTOR',
      '9:3 CONFIG_MISSING_OPTION',
      '11:11 CONFIG_WRONG_VALUE',
      '14:13 CONFIG_UNKNOWN_SOURCE',
      '15:13 CONFIG_UNKNOWN_FORMAT',
      '16:5 CONFIG_TARGET',
      '17:18 CONFIG_UNKNOWN_DESTINATION',
      '18:15 CONFIG_CRON',
      '19:19 CONFIG_UNKNOWN_TRANSFORM',
      '19:41 CONFIG_TRANSFORM',
      '20:5 CONFIG_UNKNOWN_OPTION',
      '23:5 CONFIG_MISSING_OPTION',
      '23:20 CONFIG_WRONG_VALUE',
      '24:25 CONFIG_UNKNOWN_OPTION',
    ]);
    expect(problems.every(({ family, where }) => family === 'config' && where.file !== undefined)).toBe(true);
    expect(config!.jobs.size).toBe(0);
    expect([...refused.keys()]).toEqual(['orders', 'stock']);
  });

  it('accepts the valid jobs next to an invalid one, and says why that one is left out', async () => {
    const { config, problems, refused } = await load(
      configWith(
        `${goodJob}  bad:\n    source: depot\n    query: select 1\n    format: csv\n    target: ${id('b')}\n`,
      ).replace('sources:\n', 'sources:\n  depot: {connector: warehouse}\n'),
    );
    expect([...config!.jobs.keys()]).toEqual(['orders']);
    expect([...config!.sources.keys()]).toEqual(['shop']);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.where).toMatchObject({ source: 'depot' });
    expect(refused.get('bad')).toEqual(problems);
  });

  it("rejects the whole file if there's an error at its top level", async () => {
    const { config, problems } = await load(configWith(goodJob, 'timezone: Europe/Berln\nstat: x'));
    expect(config).toBeUndefined();
    expect(problems.map(({ next }) => next)).toEqual(['did you mean "Europe/Berlin"?', 'did you mean "state"?']);
  });

  it('reports a missing option with the line to add', async () => {
    expect(await only(configWith(goodJob).replace('    host: db.example.com\n', ''))).toEqual({
      code: 'CONFIG_MISSING_OPTION',
      message: '"host" is missing from this source (connector warehouse)',
      next: 'add a line: host: db.example.com  # Where it is.',
    });
    expect(await only(job('', /^query/))).toMatchObject({
      message: 'Missing "query": this job does not specify what to read',
      next: 'add a line: query: select 1',
    });
    expect(await only(job('', /^format/))).toMatchObject({
      next: 'add a line: format: csv',
      allowed: 'csv, json, xml',
    });
    expect(await only(job('', /^source/))).toMatchObject({ next: 'add a line: source: NAME', allowed: 'shop' });
    expect(await only(job('', /^target/))).toMatchObject({ message: '"target" is missing from this job' });
  });

  it("rejects a format that data sources don't support, and says how to write it to a file", async () => {
    const lines = { ...formatById('csv'), id: 'lines', fileEnding: '.lines', isForDatasources: false };
    const { problems } = await load(configWith(goodJob.replace('csv', 'lines')), { formats: [...formats, lines] });
    expect(problems.map(said)).toEqual([
      {
        code: 'CONFIG_TARGET',
        message: "The service's data sources do not support the lines format",
        allowed: 'csv, json, xml',
        next: 'choose one of these; to write lines to a file, run "sluice sync JOB --to FILE.lines"',
      },
    ]);
  });

  it('shows an invalid value next to the allowed values', async () => {
    expect(await only(configWith(goodJob).replace('host: db', 'port: 99999\n    host: db'))).toEqual({
      code: 'CONFIG_WRONG_VALUE',
      message: 'Invalid value for "port"',
      seen: '99999',
      allowed: 'a whole number from 1 to 65535',
    });
    expect(await only(configWith(goodJob).replace('host: db', 'mode: fats\n    host: db'))).toMatchObject({
      seen: '"fats"',
      allowed: 'fast, careful',
      next: 'did you mean "fast"?',
    });
    expect(await only(job("    enabled: 'yes'\n"))).toMatchObject({ allowed: 'true or false', next: 'write true' });
    expect(await only(configWith(goodJob).replace('host: db.example.com', 'host: 42'))).toMatchObject({
      next: 'put it in quotes: "42"',
    });
  });

  it('suggests a valid value: a number with a unit, or a list instead of a string', async () => {
    const alerts = (line: string) =>
      `alerts:\n  channels: { ops: { type: slack, url: "https://x.example" } }\n  ${line}\n${configWith(goodJob)}`;
    expect(await only(alerts('settle: 30'))).toMatchObject({
      allowed: 'text like "24h"',
      next: 'write it with its unit, as in 24h',
    });
    expect(await only(alerts('quota_left: "10"'))).toMatchObject({ next: 'write it with its unit, as in 10%' });
    expect(await only(alerts('stale_after: 26'))).toMatchObject({ next: 'write it with its unit, as in 26h' });
    const mail = 'email, server: "smtp://mail.example.com", from: a@example.com, to: me@example.com }';
    expect(await only(alerts('settle: 30s').replace(/slack.*\}(?= \})/, mail))).toMatchObject({
      allowed: 'a list',
      next: 'write a list, as in ["me@example.com"]',
    });
  });

  it('rejects a guard that no result could pass, both in a job and at the top level', async () => {
    const guards = 'guards: { rows: { minimum: 10, maximum: 5 }, bytes: { minimum: 5, maximum: 5 } }\n';
    const told = {
      code: 'CONFIG_GUARDS',
      message: 'No result can pass: the minimum of "rows" is greater than its maximum',
      seen: 'minimum 10, maximum 5',
      next: 'set the minimum to 5 or less, or delete one of them',
    };
    expect(await only(job(`    ${guards}`))).toMatchObject(told);
    expect(await only(`${guards}${configWith(goodJob)}`)).toMatchObject(told);
  });

  it('says where an option belongs if a neighboring section has it', async () => {
    const source = (line: string) => configWith(goodJob).replace('host: db', `${line}\n    host: db`);
    expect(await only(source('limit: 5'))).toMatchObject({ next: 'move it to the query of a job' });
    const query = goodJob.replace('select 1', '{sql: select 1, port: 5432}');
    expect(await only(configWith(query))).toMatchObject({ next: 'move it to the source' });
    expect(await only(job('    timezone: Europe/Warsaw\n'))).toMatchObject({
      next: 'move it to the schedule: {cron: …, …}',
    });
  });

  it("doesn't suggest corrections for three-letter words", async () => {
    const { nearest } = await import('../../src/lib/nearest.ts');
    expect(nearest('ssl', ['tls', 'ssh'])).toBeUndefined();
    expect([nearest('cvs', ['csv']), nearest('sssh', ['ssh']), nearest('lts', ['tls'])]).toEqual(['csv', 'ssh', 'tls']);
  });

  it('quotes IDs as written even if YAML parses them as numbers', async () => {
    const target = (value: string) => configWith(goodJob.replace(id('a'), value));
    const exponent = `${'0'.repeat(28)}1e10`;
    expect(await only(target(exponent))).toMatchObject({ seen: exponent, next: `put it in quotes: "${exponent}"` });
    const digits = `0${'1'.repeat(31)}`;
    expect(await only(target(digits))).toMatchObject({
      code: 'CONFIG_NUMBER',
      seen: digits,
      next: `put it in quotes: "${digits}"`,
    });
  });

  it('reports errors only for the alternative that the user evidently meant', async () => {
    const auth = (value: string) => configWith(goodJob).replace('host: db', `auth: ${value}\n    host: db`);
    expect(await only(auth('5'))).toMatchObject({ allowed: 'text; or a map of options (token, realm)' });
    expect(await only(auth('{token: abcd, relm: x}'))).toMatchObject({
      message: 'Unknown option "relm" in "auth"',
      next: 'did you mean "realm"?',
    });
    expect(await only(auth('{}'))).toMatchObject({ message: '"token" is missing from "auth"' });
  });

  it("reports violations of a connector's rules at the option that they apply to", async () => {
    const { problems } = await load(configWith(goodJob).replace('db.example.com', 'forbidden'));
    expect(lines(problems)).toEqual(['10:11 CONFIG_RULE']);
    expect(await only(job('', /^$/).replace('select 1', 'drop table orders'))).toMatchObject({
      code: 'CONFIG_RULE',
      message: 'Only reading is possible',
    });
  });

  it("rejects a string as a query if the connector doesn't support it", async () => {
    const text = configWith(goodJob.replace('source: shop', 'source: now')).replace(
      'sources:\n',
      'sources:\n  now: {connector: clock}\n',
    );
    expect(await only(text)).toMatchObject({
      message: 'The "clock" connector does not accept a plain text query',
      allowed: 'a map of zone',
    });
  });

  it('requires exactly one kind of credentials per destination', async () => {
    const credentials = (lines_: string) => configWith(goodJob).replace('    api_key: abcdefabcdef\n', lines_);
    expect(await only(credentials(''))).toMatchObject({
      message: 'Missing credentials: this destination has neither api_key nor basic',
    });
    expect(await only(credentials('    api_key: abc\n    basic: {user: a, password: b}\n'))).toMatchObject({
      message: 'Conflicting credentials: this destination has both api_key and basic',
    });
    expect(await only(credentials('    api_key: "two words"\n'))).toMatchObject({ code: 'CONFIG_CREDENTIALS' });
    expect(await only(credentials('    api_key: ""\n'))).toMatchObject({ message: 'The api_key is empty' });
  });

  it('rejects a service URL that has no API path or contains a query or credentials, and warns about plain HTTP', async () => {
    const url = (value: string) => configWith(goodJob).replace('http://127.0.0.1:8080/api/1.0', value);
    expect(await only(url('app.example.com/api/1.0'))).toMatchObject({ code: 'CONFIG_URL' });
    expect(await only(url('https://app.example.com/'))).toMatchObject({
      next: 'did you mean "https://app.example.com/api/1.0"?',
    });
    expect(await only(url('https://x.example/api/1.0?key=1'))).toMatchObject({
      message: expect.stringContaining('query'),
    });
    expect(await only(url('https://x.example/api/1.0?apikey=hunter22'))).toMatchObject({
      seen: '"https://x.example/api/1.0?…"',
    });
    const parameter = await only(url('https://x.example/api/1.0;key=hunter22'));
    expect(parameter).toMatchObject({ seen: '"https://x.example/api/1.0;…"' });
    expect(parameter).not.toHaveProperty('next');
    const { problems } = await load(url('https://user:hunter2@x.example/api/1.0'));
    expect(problems.map(({ message }) => message)).toEqual(["Don't put credentials in the service URL"]);
    expect(JSON.stringify(problems.map(said))).not.toContain('hunter2');
    const plain = await load(url('http://app.example.com/api/1.0'));
    expect(plain.problems).toEqual([]);
    expect(plain.warnings).toMatchObject([{ code: 'CONFIG_URL_PLAIN', next: 'use https://app.example.com/api/1.0' }]);
    const { warnings } = await load(url('http://app.example.com:8080/api/1.0'));
    expect(warnings.map(({ next }) => next)).toEqual(["use https, with the service's https port"]);
  });

  it("rejects values that the service doesn't allow or that make no sense", async () => {
    const limit = (line: string) => configWith(goodJob).replace('    api_key', `    ${line}\n    api_key`);
    expect(await only(limit('requests_per_second: 6'))).toMatchObject({ allowed: 'a whole number from 1 to 5' });
    expect(await only(limit('reserve_requests: 1000'))).toMatchObject({
      code: 'CONFIG_LIMITS',
      allowed: 'less than 1000',
    });
    const large = await load(limit('upload_limit_bytes: 20000000'));
    expect(large.problems).toEqual([]);
    expect(large.warnings.map(({ code }) => code)).toEqual(['CONFIG_LIMITS']);
  });

  it('warns about what the dashboard will show for an incremental job', async () => {
    const asks = (query: string) => configWith(goodJob.replace(/query: .*/, `query: ${query}`));
    const { problems, warnings } = await load(asks('{ sql: select 1, since: updated_at }'));
    expect(problems).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(['CONFIG_ONLY_NEW']);
    expect(warnings[0]!.message).toContain('replaces everything that the instance shows');
    expect((await load(asks('{ sql: select 1 }'))).warnings).toEqual([]);
  });

  it('rejects invalid IDs, and warns about unusual ones', async () => {
    const target = (value: string) => configWith(goodJob.replace(id('a'), value));
    expect(await only(target('a/../b'))).toMatchObject({ code: 'CONFIG_ID' });
    const { problems, warnings } = await load(target('my-instance'));
    expect(problems).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(['CONFIG_ID']);
  });

  it('rejects the second of two jobs that write to the same instance, unless one of them is disabled', async () => {
    const second = goodJob.replace('orders', 'again');
    const { config, problems, refused } = await load(configWith(goodJob + second));
    expect(problems.map(said)).toMatchObject([
      {
        code: 'CONFIG_TARGET_TAKEN',
        message: 'The "orders" job (line 12) writes to the same target, so each job would overwrite the other\'s data',
      },
    ]);
    expect([...config!.jobs.keys()]).toEqual(['orders']);
    expect([...refused.keys()]).toEqual(['again']);
    expect((await load(configWith(`${goodJob}${second}    enabled: false\n`))).problems).toEqual([]);
  });

  it.each<[string, object, object, boolean]>([
    ['one instance', { target: id('a') }, {}, true],
    [
      'one instance, named with a client',
      { target: id('a') },
      { target: { instance: id('a'), client_id: 'c1' } },
      true,
    ],
    ['an instance of another service', { target: id('a') }, { destination: 'elsewhere' }, false],
    ['one data source', { target: { datasource: { name: 'A' } } }, {}, true],
    [
      'another data source',
      { target: { datasource: { name: 'A' } } },
      { target: { datasource: { name: 'B' } } },
      false,
    ],
    [
      "a client's data source",
      { target: { datasource: { name: 'A' } } },
      { target: { datasource: { name: 'A' }, client_id: 'c1' } },
      false,
    ],
    ['a data source of another account', { target: { datasource: { name: 'A' } } }, { destination: 'other' }, false],
    [
      'a data source of another service',
      { target: { datasource: { name: 'A' } } },
      { destination: 'elsewhere' },
      false,
    ],
  ])('compares the targets of two jobs: %s', async (_, first, second, isTaken) => {
    const url = 'https://a.example/api/1.0';
    const job = { source: 'shop', query: 'select 1', format: 'csv', destination: 'main', ...first };
    const text = JSON.stringify({
      destinations: {
        main: { url, api_key: 'k1k1k1' },
        other: { url, api_key: 'k2k2k2' },
        elsewhere: { url: 'https://b.example/api/1.0', api_key: 'k1k1k1' },
      },
      sources: { shop: { connector: 'warehouse', host: 'db.example.com' } },
      jobs: { one: job, two: { ...job, ...second } },
    });
    const { problems } = await load(text);
    expect(problems.map(({ code }) => code)).toEqual(isTaken ? ['CONFIG_TARGET_TAKEN'] : []);
  });

  it('requires exactly one kind of target, with all its options', async () => {
    const target = (value: string) => configWith(goodJob.replace(id('a'), value));
    expect(await only(target('{}'))).toMatchObject({
      message: 'Missing target: none of instance, datasource and refresh is set',
    });
    expect(await only(target('{datasource: {name: A, shares: [{}]}}'))).toMatchObject({
      message: 'Missing group or user in this share',
    });
    expect(await only(target('{datasource: {name: A, shares: [{user: u, group: g}]}}'))).toMatchObject({
      message: 'This share has both a group and a user',
    });
    expect(await only(target('{datasource: {name: A, format: json}}'))).toMatchObject({
      message: 'The job writes csv, but its data source is declared as json',
    });
    const refresh = await load(target(`{refresh: [${id('a')}]}`));
    expect(refresh.problems.map(({ message }) => message.match(/"(\w+)"$/)?.[1])).toEqual([
      'source',
      'query',
      'format',
    ]);
  });

  it('requires a job to name its destination if there are several', async () => {
    const two = configWith(goodJob).replace(
      'sources:',
      `  other: {url: 'http://127.0.0.1/api/1.0', api_key: abcd}\nsources:`,
    );
    expect(await only(two)).toMatchObject({ allowed: 'main, other', next: 'add a line: destination: NAME' });
  });

  it('rejects schedules that never fire and unknown time zones', async () => {
    expect(await only(job("    schedule: '0 0 31 2 *'\n"))).toMatchObject({
      code: 'CONFIG_CRON',
      message: 'Invalid schedule: it never fires: the date does not exist',
    });
    expect(await only(job("    schedule: {cron: '0 0 * * *', timezone: Europe/Pariss}\n"))).toMatchObject({
      code: 'CONFIG_TIMEZONE',
      next: 'did you mean "Europe/Paris"?',
    });
  });

  it("rejects names that don't work on a command line, and accepts names in any language", async () => {
    expect(await only(configWith(goodJob.replace('orders', '"my orders"')))).toMatchObject({ code: 'CONFIG_NAME' });
    expect((await load(configWith(goodJob.replace('orders', 'umsätze_2026')))).problems).toEqual([]);
  });

  it("isn't confused by names that are also built-in properties of objects", async () => {
    const { problems } = await load(
      configWith(
        goodJob.replace('format: csv', 'format: constructor').replace('source: shop', 'source: toString'),
      ).replace('    api_key', '    __proto__: {a: 1}\n    constructor: x\n    api_key'),
    );
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['CONFIG_UNKNOWN_OPTION', 'Unknown option "__proto__" in this destination'],
      ['CONFIG_UNKNOWN_OPTION', 'Unknown option "constructor" in this destination'],
      ['CONFIG_UNKNOWN_SOURCE', 'Unknown source "toString"'],
      ['CONFIG_UNKNOWN_FORMAT', 'Unknown format "constructor"'],
    ]);
  });
});
