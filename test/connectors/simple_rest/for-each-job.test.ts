import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PayloadTable } from '../../../src/formats/payload-table.ts';
import type { JobRowsOptions } from '../../../src/sdk/job-rows.ts';
import { sendJson } from '../http-server.ts';
import { faults, restBench } from './rig.ts';

const { server, folder, extract, failure, asked } = restBench();

/** Opens a payload of job `accounts`, as the runner does. */
async function accounts(text: string, format = 'json') {
  const path = join(folder, `payload.${format}`);
  await writeFile(path, text);
  const read: [string, JobRowsOptions | undefined][] = [];
  const rowsOf = async (job: string, options?: JobRowsOptions) => {
    read.push([job, options]);
    const table = await PayloadTable.open({ path, format, options: {} });
    return { ...table.extraction(), asOf: 0 };
  };
  return { rowsOf, read };
}

const forEach = { job: 'accounts', column: 'id' };
const query = { for_each: forEach, path: '/{{ parent.id }}' };
const answerPath = () => {
  server.answer = ({ pathname }, response) => sendJson(response, [{ path: pathname }]);
};

describe('for_each over the rows of another job', () => {
  test.each([
    ['json', '[{"id":12345678901234567890,"name":"é/1","plan":null},{"id":1.50,"name":"b","plan":"x"}]'],
    ['csv', 'id,name,plan\n12345678901234567890,é/1,\n1.50,b,x\n'],
    [
      'xml',
      '<rows><row><id>12345678901234567890</id><name>é/1</name></row><row><id>1.50</id><name>b</name><plan>x</plan></row></rows>',
    ],
  ])('uses exact values of its columns: %s', async (format, text) => {
    answerPath();
    const { rowsOf, read } = await accounts(text, format);
    const more = { path: '/{{ parent.id }}/{{ parent.name | url }}', parent_columns: { account: 'id', plan: 'plan' } };
    const { columns, rows } = await extract({ ...query, ...more }, {}, { rowsOf });
    expect(columns.map(({ name }) => name)).toEqual(['account', 'plan', 'path']);
    expect(rows).toEqual([
      ['12345678901234567890', null, '/12345678901234567890/%C3%A9%2F1'],
      ['1.50', 'x', '/1.50/b'],
    ]);
    expect(read).toEqual([['accounts', { maxAgeMs: undefined }]]);
  });

  test('reads each parent once, in the order of the first rows', async () => {
    answerPath();
    const { rowsOf, read } = await accounts('order,id\n1,b\n2,a\n3,b\n4,a\n5,c\n', 'csv');
    const given = { ...query, for_each: { ...forEach, max_age: '2h' } };
    expect((await extract(given, {}, { rowsOf })).rows).toEqual([['/b'], ['/a'], ['/c']]);
    expect(asked()).toHaveLength(3);
    expect(read).toEqual([['accounts', { maxAgeMs: 7_200_000 }]]);
  });

  test.each([
    ['a parent without a value', 'id,n\n1,a\n,b\n', 'REST_PARENT_VALUE'],
    ['no such column', 'key\n1\n', 'REST_PARENT_VALUE'],
    ['different values for one parent', 'id,n\n1,a\n2,a\n1,b\n', 'REST_PARENT_TWICE'],
    ['too many parents', 'id,n\n1,a\n2,a\n3,a\n4,a\n', 'REST_MAX_PARENTS'],
  ])('fails before the first request if there is %s', async (_, text, code) => {
    const { rowsOf } = await accounts(text, 'csv');
    const given = { ...query, for_each: { ...forEach, max_parents: 3 }, parent_columns: { n: 'n' } };
    const problem = await failure(given, {}, { rowsOf });
    expect(problem).toMatchObject({ code });
    expect(problem.next).not.toContain('`records`');
    expect(asked()).toEqual([]);
  });

  test('has no rows if the job has none, and reads three parents in a dry run', async () => {
    answerPath();
    const nothing = await accounts('[]');
    expect((await extract(query, {}, nothing)).rows).toEqual([]);
    const { rowsOf } = await accounts('id\n1\n2\n3\n4\n', 'csv');
    const { rows, warnings, isSample } = await extract(query, {}, { rowsOf, isDryRun: true });
    expect([rows.length, isSample, warnings.map(({ code }) => code)]).toEqual([3, true, ['REST_FIRST_PARENTS']]);
    const preview = await extract(query, {}, { rowsOf, preview: { allowsAnyMethod: false } });
    expect(preview.rows).toEqual([['/1']]);
  });

  test('reads 200,000 rows with a heap of 32 MB', async () => {
    server.answer = ({ pathname }, response) => sendJson(response, [{ id: Number(pathname.slice(1)) }]);
    const path = join(folder, 'large.json');
    await pipeline(Readable.from(manyRows()), createWriteStream(path));
    const child = fileURLToPath(new URL('for-each-job-child.ts', import.meta.url));
    const args = ['--max-old-space-size=32', child, server.url, path];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 280_000 });
    expect(JSON.parse(stdout)).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
  });

  test.each<[object, string[]]>([
    [{ for_each: { job: 'a' } }, ['for_each']],
    [{ for_each: { column: 'id' } }, ['for_each']],
    [{ for_each: { ...forEach, path: '/a' } }, ['for_each']],
    [{ for_each: { ...forEach, values: ['a'] } }, ['for_each']],
    [{ for_each: { ...forEach, records: 'a' } }, ['for_each']],
    [{ for_each: { path: '/a', max_age: '1d' } }, ['for_each']],
    [{ for_each: { values: [{ id: 1 }], column: 'id' } }, ['for_each']],
    [{ path: '/a' }, ['for_each']],
    [{ for_each: { ...forEach, max_age: '1d', missing: 'skip', concurrency: 2, max_parents: 5 } }, []],
  ])('the options %j are checked before any request is sent', (more, options) => {
    expect(faults({ ...query, ...more })).toEqual(options);
  });
});

function* manyRows(): Generator<string> {
  for (let from = 0; from < 200_000; from += 1000) {
    const rows = Array.from(
      { length: 1000 },
      (_, i) => `{"order":${from + i},"id":${i % 50},"note":"order ${from + i}"}`,
    );
    yield `${from === 0 ? '[' : ','}${rows.join()}`;
  }
  yield ']';
}
