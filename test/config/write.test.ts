import { expect, it } from 'vitest';
import { configWith, goodJob, load } from './fixtures.ts';

const withWrite = (write: string, query = 'select 1') =>
  load(configWith(`${goodJob.replace('select 1', query)}    write: ${write}\n`));

const ruleOf = async (write: string) => {
  const { config, problems } = await withWrite(write);
  expect(problems).toEqual([]);
  return config!.jobs.get('orders')!.extract!.write;
};

const messages = async (write: string) => (await withWrite(write)).problems.map(({ message }) => message).join('; ');

it('`write` can be a string or a map, and is undefined if rows are replaced', async () => {
  expect(await ruleOf('replace')).toBeUndefined();
  expect(await ruleOf('append')).toEqual({ disposition: 'append', key: [] });
  expect(await ruleOf('{ disposition: merge, key: id }')).toEqual({ disposition: 'merge', key: ['id'] });
  expect(
    await ruleOf('{ disposition: merge, key: [a, b], deleted: gone, retain: { column: at, within: 90d, rows: 5 } }'),
  ).toEqual({
    disposition: 'merge',
    key: ['a', 'b'],
    deleted: 'gone',
    retain: { column: 'at', within: { count: 90, unit: 'days' }, rows: 5 },
  });
});

it('`write` is rejected if its options conflict', async () => {
  expect(await messages('merge')).toContain('merge requires a key');
  expect(await messages('{ disposition: append, key: id }')).toContain('"key" has no effect with append');
  expect(await messages('{ disposition: append, deletes: compare }')).toContain('"deletes" has no effect with append');
  expect(await messages('{ disposition: merge, key: id, deletes: compare }')).toContain('"deletes" requires a query');
  expect(await messages('{ deleted: gone }')).toContain('"deleted" has no effect with replace');
  expect(await messages('{ retain: { rows: 5 } }')).toContain('"retain" has no effect with replace');
  expect(await messages('{ disposition: append, retain: { within: 5d } }')).toContain('"within" requires a column');
  expect(await messages('{ disposition: merge, key: id, retain: { rows: 5 } }')).toContain('"rows" requires a column');
  expect(await messages('{ disposition: append, retain: { column: at } }')).toContain('neither within nor rows');
  expect(await messages('{ disposition: merge, key: id, deleted: id }')).toContain('cannot be part of the key');
  expect(await messages('{ disposition: append, retain: { column: at, within: soon } }')).not.toBe('');
  expect(await messages('upsert')).not.toBe('');
});

it('`write` with append or merge removes the warning that an incremental job shows only new rows', async () => {
  const query = '{ sql: select 1, since: updated_at }';
  const codes = async (write: string) => (await withWrite(write, query)).warnings.map(({ code }) => code);
  expect(await codes('replace')).toEqual(['CONFIG_ONLY_NEW']);
  expect(await codes('append')).toEqual([]);
  expect(await codes('{ disposition: merge, key: id }')).toEqual([]);
});
