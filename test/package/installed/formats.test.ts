import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { describe, expect, inject, it } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import { adminKey, type Format, makeWorld } from '../../journey/world.ts';
import { tarOf, zipOf } from '../../sdk/archives.ts';

/** One small table in every input format. */
const plain: Readonly<Record<string, Buffer>> = {
  csv: Buffer.from('id,name\n1,Zoë\n'),
  json: Buffer.from('[{"id":1,"name":"Zoë"}]'),
  jsonl: Buffer.from('{"id":1,"name":"Zoë"}\n'),
  xml: Buffer.from('<rows><row><id>1</id><name>Zoë</name></row></rows>'),
  xlsx: await writeXlsxFile([
    [{ value: 'id' }, { value: 'name' }],
    [{ value: 1, type: Number }, { value: 'Zoë' }],
  ]).toBuffer(),
};

/**
 * A word in each encoding that can represent it. The first encodings use Node's own tables, the others iconv-lite's.
 */
const encodings: Readonly<Record<string, string>> = {
  'utf-16le': 'Zoë €',
  'utf-16be': 'Zoë €',
  'windows-1252': 'Zoë €',
  'iso-8859-15': 'Zoë €',
  'windows-1251': 'Жанна',
  'koi8-r': 'Жанна',
  shift_jis: 'カナ',
  'euc-jp': '東京',
  gb18030: '北京',
  big5: '台北',
  'euc-kr': '서울',
  cp437: 'Zoë ½',
  cp850: 'Zoë ×',
};

interface Case {
  readonly file: string;
  readonly bytes: Buffer;
  readonly query: object;
  readonly name: string;
}

async function cases(): Promise<Case[]> {
  const all: Case[] = [];
  for (const [ending, bytes] of Object.entries(plain)) {
    const query = ending === 'xml' ? { records: 'rows/row' } : {};
    all.push({ file: `plain.${ending}`, bytes, query, name: 'Zoë' });
    all.push({ file: `packed-${ending}.tgz`, bytes: await tarOf({ [`a.${ending}`]: bytes }), query, name: 'Zoë' });
    // A workbook is itself a zip archive, so it's only read as a separate file or from a tar archive.
    if (ending === 'xlsx') continue;
    all.push({ file: `zipped-${ending}.zip`, bytes: await zipOf({ [`a.${ending}`]: bytes }), query, name: 'Zoë' });
    all.push({ file: `packed.${ending}.gz`, bytes: gzipSync(bytes), query, name: 'Zoë' });
    all.push({ file: `packed.${ending}.zst`, bytes: zstdCompressSync(bytes), query, name: 'Zoë' });
  }
  for (const [encoding, name] of Object.entries(encodings)) {
    const bytes = iconv.encode(`id,name\n1,${name}\n`, encoding);
    all.push({ file: `in-${encoding}.csv`, bytes, query: { encoding }, name });
  }
  return all;
}

const written: Readonly<Record<Format, (name: string) => string>> = {
  csv: (name) => `id,name\n1,${name}\n`,
  json: (name) => `"name":"${name}"`,
  xml: (name) => `>${name}<`,
};

describe.each(inject('nodes'))('the installed package under Node $major', ({ path: node }) => {
  it('reads every file format, compression and encoding, and writes every output format', async () => {
    const program = { node, door: join(inject('installed'), 'src/cli/sluice.js') };
    const world = await makeWorld({ program, serve: ['--no-limits'] });
    const home = await world.home();
    const jobs: (Case & { readonly job: string; readonly format: Format; readonly instance: string })[] = [];
    for (const [i, one] of (await cases()).entries()) {
      const format = (['csv', 'json', 'xml'] as const)[i % 3]!;
      await writeFile(join(home.folder, one.file), one.bytes);
      jobs.push({ ...one, job: `job${i}`, format, instance: await world.instance(format) });
    }
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { folder: { connector: 'file' } },
      jobs: Object.fromEntries(
        jobs.map(({ job, file, query, format, instance }) => [
          job,
          { source: 'folder', query: { path: file, ...query }, format, target: { instance } },
        ]),
      ),
    });
    const ended = await home.sync({ program });
    const fileOf = (job: string) => jobs.find((one) => one.job === job)?.file;
    const failed = ended.jobs.filter(({ state }) => state !== 'delivered');
    const failures = failed.map(({ job, state, problem }) => `${fileOf(job)} ${state}: ${problem?.message}`);
    expect({ failures, code: ended.code, jobs: ended.jobs.length }).toEqual({
      failures: [],
      code: 0,
      jobs: jobs.length,
    });
    for (const { file, name, format, instance } of jobs) {
      expect(await world.data(instance), file).toContain(written[format](name));
    }
  });
});
