import { expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { isSameRun } from '../../../src/daemon/retry/is-same-run.ts';

const source = { name: 'shop', connector: { id: 'db' }, options: { host: 'a' }, login: { name: 'acme' } };
const extract = {
  ...{ source, query: { sql: 'select 1' }, transforms: [{ given: ['id'], transform: {} }] },
  ...{ format: {}, formatOptions: { delimiter: ';' }, stallTimeoutMs: 1000, timezone: 'UTC' },
};
const job = { name: 'orders', always: false, extract } as unknown as Job;
const reading = (more: object) => ({ ...job, extract: { ...extract, ...more } }) as unknown as Job;

it.each<[string, Job]>([
  ['connector', reading({ source: { ...source, connector: { id: 'file' } } })],
  ['source option', reading({ source: { ...source, options: { host: 'b' } } })],
  ['login', reading({ source: { ...source, login: { name: 'other' } } })],
  ['query', reading({ query: { sql: 'select 2' } })],
  ['transform', reading({ transforms: [{ given: ['name'], transform: {} }] })],
  ['format option', reading({ formatOptions: { delimiter: ',' } })],
  ['stall timeout', reading({ stallTimeoutMs: 2000 })],
  ['target, as a refresh', { ...job, extract: undefined } as unknown as Job],
])("a run with another %s isn't the same run", (_, changed) => {
  expect(isSameRun(job, changed)).toBe(false);
});

it('a run of the same rows stays the same run, no matter what else changes in its job', () => {
  expect(isSameRun(job, { ...reading({ source: structuredClone(source) }), always: true, priority: 'high' })).toBe(
    true,
  );
  const refresh = { ...job, extract: undefined } as unknown as Job;
  expect(isSameRun(refresh, { ...refresh, always: true })).toBe(true);
});
