import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunWarning } from '#sdk';
import file from '../../connectors/file/index.ts';
import { contextOf } from './harness.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-preview-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** The differences that a preview of a file finds between the query's options and the file. */
async function differences(content: string | Buffer, query: Record<string, unknown> = {}, name = 'a.csv') {
  await writeFile(join(folder, name), content);
  const warnings: RunWarning[] = [];
  const onWarning = (warning: RunWarning) => void warnings.push(warning);
  const context = contextOf(file, { source: {}, query: { path: name, ...query }, folder, onWarning });
  const read = file.extract({ ...context, preview: { allowsAnyMethod: false } });
  // A file that differs may not be readable.
  await read.catch(() => undefined);
  for (const { code } of warnings) expect(code).toBe('FILE_LOOKS_DIFFERENT');
  return warnings.map(({ seen, next }) => `${seen} | ${/`([^`]*)`/.exec(next!)?.[1]}`);
}

const table = 'id;name;amount\n1;Ann;10,5\n2;Bo;20,5\n3;Cy;7,25\n';

it('a preview names the options that do not fit the file', async () => {
  expect(await differences(table)).toEqual(['delimiter: "," | delimiter: ";"']);
  expect(await differences(`Report\n\n${table}Total;;38\n`, { delimiter: ';' })).toEqual([
    'skip_rows: 0, skip_footer: 0 | skip_rows: 1, skip_footer: 1',
  ]);
  expect(await differences(table, { delimiter: ';', skip_rows: 1 })).toEqual(['skip_rows: 1 | skip_rows: 0']);
  expect(await differences(table, { delimiter: ';', header: false })).toEqual(['header: false | header: true']);
  expect(await differences(gzipSync(table), {}, 'a.csv.gz')).toHaveLength(1);
});

it('a preview names an encoding that would change letters', async () => {
  const text = 'id,name\n1,Zoë\n2,Größe\n';
  expect(await differences(text, { encoding: 'windows-1252' })).toEqual(['encoding: windows-1252 | encoding: utf-8']);
  expect(await differences(iconv.encode(text, 'windows-1252'))).toEqual(['encoding: utf-8 | encoding: windows-1252']);
  expect(await differences(iconv.encode(text, 'utf-16le'))).toEqual(['encoding: utf-8 | encoding: utf-16le']);
});

it('a preview is silent about a file that fits, and about what it cannot know', async () => {
  const fitting: [content: string | Buffer, query: Record<string, unknown>, name?: string][] = [
    [table, { delimiter: ';' }],
    [`sep=;\n${table}`, {}],
    [`Report\n${table}Total;;38\n`, { delimiter: ';', skip_rows: 1, skip_footer: 1 }],
    [`Report\n\n${table}`, { delimiter: ';', skip_rows: 2 }],
    ['a\tb\n1\t2\n', {}, 'a.tsv'],
    ['x\n1\n2\n', { delimiter: ';' }],
    ['id,name\n1,Ann\n', { encoding: 'windows-1252' }],
    ['\ufeffid,name\n1,Zoë\n', { encoding: 'windows-1252' }],
    [iconv.encode('id,name\n1,Łódź\n', 'windows-1250'), { encoding: 'windows-1250' }],
    ['1\tx\\ty\n', { dialect: 'postgres_text', header: false }],
    ['', { header: false }],
    ['[{"a":1}]', {}, 'a.json'],
    ['<r><i><x>1</x></i></r>', {}, 'a.xml'],
  ];
  for (const [content, query, name] of fitting)
    expect(await differences(content, query, name), String(content)).toEqual([]);
});
