import { expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check.ts';
import { readJobsOf } from '../../src/config/read-jobs.ts';
import { folderWith } from './fixtures.ts';

type Job = Record<string, unknown>;

const reads = (job: string, more: object = {}): Job => ({
  source: 'api',
  query: { path: '/{{ parent.id }}', for_each: { job, column: 'id' }, ...more },
  format: 'csv',
});
const plain = (more: object = {}): Job => ({ source: 'api', query: { path: '/a' }, format: 'csv', ...more });

async function check(jobs: Record<string, Job>) {
  const targets = Object.keys(jobs).map((_, i) => (i + 1).toString(16).padStart(32, '0'));
  const text = JSON.stringify({
    version: 1,
    destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'x'.repeat(40) } },
    sources: { api: { connector: 'simple_rest', url: 'http://127.0.0.1:9/' } },
    jobs: Object.fromEntries(Object.entries(jobs).map(([name, job], i) => [name, { target: targets[i], ...job }])),
  });
  const folder = await folderWith({ 'sluice.yaml': text });
  const { config, problems, warnings } = await checkConfig(`${folder}/sluice.yaml`);
  const found = problems.map(({ code, where, seen, allowed, next }) => ({ code, job: where.job, seen, allowed, next }));
  const warned = warnings.map(({ code, message, where }) => ({ code, message, job: where.job, line: where.line }));
  return { config: config!, found, warned };
}

it('a job can read the rows of another job, even of a disabled one, wherever it stands', async () => {
  const { config, found } = await check({
    orders: reads('accounts'),
    lines: reads('orders'),
    accounts: plain({ enabled: false }),
  });
  expect(found).toEqual([]);
  expect([...config.jobs.keys()]).toHaveLength(3);
  expect([...readJobsOf(config)]).toEqual(['accounts', 'orders']);
});

it('a job whose parents come from a job that does not exist is refused, and the right name is suggested', async () => {
  const { config, found } = await check({ orders: reads('acounts'), accounts: plain() });
  expect(found).toEqual([
    { code: 'CONFIG_UNKNOWN_JOB', job: 'orders', allowed: 'accounts', next: 'did you mean "accounts"?' },
  ]);
  expect([...config.jobs.keys()]).toEqual(['accounts']);
});

it('jobs that would read their own rows are refused, but not those that read theirs', async () => {
  const { config, found } = await check({
    alone: reads('alone'),
    one: reads('two'),
    two: reads('three'),
    three: reads('one'),
    after: reads('one'),
    good: plain(),
  });
  expect(found.map(({ code, job, seen }) => [code, job, seen])).toEqual([
    ['CONFIG_JOB_CYCLE', 'alone', 'alone → alone'],
    ['CONFIG_JOB_CYCLE', 'one', 'one → two → three → one'],
    ['CONFIG_JOB_CYCLE', 'two', 'two → three → one → two'],
    ['CONFIG_JOB_CYCLE', 'three', 'three → one → two → three'],
  ]);
  expect([...config.jobs.keys()]).toEqual(['after', 'good']);
});

it('a bulk refresh has no rows to read', async () => {
  const { found } = await check({ orders: reads('all'), all: { target: { refresh: ['f'.repeat(32)] } } });
  expect(found).toMatchObject([{ code: 'CONFIG_JOB_ROWS', job: 'orders' }]);
});

it('a job with errors can still be read, because its last rows are there, but its reader warns', async () => {
  const { config, found, warned } = await check({ orders: reads('accounts'), accounts: plain({ format: 'cvs' }) });
  expect(found.map(({ code }) => code)).toEqual(['CONFIG_UNKNOWN_FORMAT']);
  expect([...config.jobs.keys()]).toEqual(['orders']);
  expect(warned).toMatchObject([
    { code: 'CONFIG_JOB_NOT_RUN', job: 'orders', message: expect.stringContaining('"accounts"') },
  ]);
});

it('the rows that a job with errors reads are kept until its errors are fixed', async () => {
  const orders = { ...reads('accounts'), format: 'cvs' };
  const { config } = await check({ orders, lines: { ...reads('orders'), transforms: [{ no: 1 }] }, accounts: plain() });
  expect([...config.jobs.keys()]).toEqual(['accounts']);
  expect([...readJobsOf(config)].toSorted()).toEqual(['accounts', 'orders']);
});

const select = { select: ['id', 'full name'] };

it.each<[string, object, string | undefined]>([
  ['any source', {}, undefined],
  ['a selection with the columns', { transforms: [select] }, undefined],
  ['a selection without a column', { transforms: [{ select: ['key'] }] }, 'key'],
  ['a column with a new name', { transforms: [select, { rename: { id: 'key' } }] }, 'key, full name'],
  ['a column that gets its name later', { transforms: [{ select: ['key'] }, { rename: { key: 'id' } }] }, undefined],
  ['csv without a header', { transforms: [select], format: { type: 'csv', header: false } }, 'column1, column2'],
  ['xml, whose names have no spaces', { transforms: [{ select: ['a b'] }], format: 'xml' }, 'a_b'],
])('columns are checked if the config determines them: %s', async (_, more, allowed) => {
  const { found } = await check({ orders: reads('accounts'), accounts: plain(more) });
  expect(found.map((one) => [one.code, one.allowed])).toEqual(
    allowed === undefined ? [] : [['CONFIG_JOB_COLUMN', allowed]],
  );
});

it('all columns that the query uses are checked', async () => {
  const accounts = plain({ transforms: [{ select: ['id'] }] });
  const { found } = await check({ orders: reads('accounts', { parent_columns: { owner: 'owner' } }), accounts });
  expect(found.map(({ code }) => code)).toEqual(['CONFIG_JOB_COLUMN']);
});
