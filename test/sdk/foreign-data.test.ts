import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { zipOf } from './archives.ts';
import { inputOf, readTable } from './inputs.ts';

test.each(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])(
  "%s without a byte order mark is rejected by name, unless it's the configured encoding",
  async (name) => {
    for (const text of ['a,b\n1,x\n', 'n\r\nx\r\n', 'id,name\n1,Größe\n2,漢字\n']) {
      const bytes = iconv.encode(text, name, { addBOM: false });
      for (const encoding of [undefined, 'utf-8', 'windows-1252']) {
        const read = readTable(inputOf(bytes), 'csv', { encoding });
        await expect(read, `${text} as ${encoding}`).rejects.toMatchObject({
          code: 'RECORDS_ENCODING',
          next: `set \`encoding: ${name}\``,
        });
      }
      const { rows } = await readTable(inputOf(bytes, 3), 'csv', { encoding: name });
      expect(rows).toEqual((await readTable(inputOf(text), 'csv')).rows);
    }
  },
);

test.each(['utf-32le', 'utf-32be'])('%s with a byte order mark is read as the mark says', async (name) => {
  const bytes = iconv.encode('a\n1\n', name, { addBOM: true });
  for (const encoding of [undefined, 'utf-32', 'utf-8']) {
    expect(await readTable(inputOf(bytes, 1), 'csv', { encoding })).toMatchObject({
      columns: [{ name: 'a' }],
      rows: [['1']],
    });
  }
});

test('a run of NUL bytes, as left by a crash, is rejected', async () => {
  const holes: [format: 'csv' | 'jsonl', text: string, position: number, encoding?: string][] = [
    ['csv', `a,b\n1,2\n3,${'\0'.repeat(4096)}`, 11],
    ['csv', `a,b\n1,"x\0y"\n`, 9],
    ['csv', `a,b\n1,x\0\n`, 8, 'windows-1252'],
    ['csv', `a,b\n${'1,2\n'.repeat(100_000)}\0\0\0\0`, 400_005],
    ['jsonl', `{"a":1}\n${'\0'.repeat(4096)}`, 9],
  ];
  for (const [format, text, position, encoding] of holes) {
    for (const size of [7, 1 << 20]) {
      await expect(readTable(inputOf(text, size), format, { encoding })).rejects.toMatchObject({
        code: 'RECORDS_NUL',
        message: `input: byte ${position} is NUL, which is not allowed in text`,
      });
    }
  }
});

test("bytes that a code page doesn't define are rejected, not replaced", async () => {
  const bytes = Buffer.from('a\n\xd2x\n', 'latin1');
  await expect(readTable(inputOf(bytes), 'csv', { encoding: 'cp1255' })).resolves.toBeDefined();
  const lone = Buffer.concat([iconv.encode('a\n', 'utf-32le', { addBOM: false }), Buffer.from('ffffff7f', 'hex')]);
  await expect(readTable(inputOf(lone), 'csv', { encoding: 'utf-32le' })).rejects.toMatchObject({
    code: 'RECORDS_ENCODING',
  });
});

const pages = {
  doctype: '<!DOCTYPE html>\n<html>\n<body>Please log in</body>\n</html>\n',
  mark: '\ufeff\r\n  <!-- v2 --> <html lang="en">\n<body>\n',
  capitals: '<HTML>\n<HEAD><TITLE>502 Bad Gateway</TITLE></HEAD>\n',
  xhtml: '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">\n<html></html>\n',
  comments: '<!-- a --><!-- b\nc -->\n<!doctype html>\n<html>\n',
  bare: '<meta charset=utf-8>\n<title>Login</title>\n',
  script: '<script>location="/login"</script>\n',
  denied: '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>\n',
};

test.each(Object.entries(pages))('a web page in place of data is recognized and rejected: %s', async (_, page) => {
  for (const format of ['csv', 'json', 'jsonl'] as const) {
    for (const options of [{}, { header: false }, { skip_rows: 1 }, { delimiter: '||' }]) {
      await expect(readTable(inputOf(page, 5), format, options)).rejects.toMatchObject({
        code: 'RECORDS_FORMAT',
        message: expect.stringMatching(/ but an (?:HTML page|XML document)/),
      });
    }
  }
  for (const encoding of ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be']) {
    const wide = readTable(inputOf(iconv.encode(page.replace('\ufeff', ''), encoding, { addBOM: true })), 'csv');
    await expect(wide, encoding).rejects.toMatchObject({ code: 'RECORDS_FORMAT' });
  }
  const packed = readTable(inputOf(gzipSync(page)), 'csv');
  await expect(packed).rejects.toMatchObject({ code: 'RECORDS_FORMAT' });
});

test('text that only resembles another file type is read', async () => {
  for (const name of ['PAR1', 'BZh9', '<html', '<none>', 'Rar!', 'x<html>', 'PK']) {
    expect((await readTable(inputOf(`${name},b\n1,2\n`), 'csv')).columns[0]?.name).toBe(name);
  }
});

test.each([
  ['bzip2', Buffer.from('BZh91AY&SY\x1c\xbb\xd4\xd2', 'latin1')],
  ['xz', Buffer.from('\xfd7zXZ\0\0\x04', 'latin1')],
  ['Parquet', Buffer.from('PAR1\x15\x04\x15\x10PAR1', 'latin1')],
  ['Arrow', Buffer.from('ARROW1\0\0\xff\xff\xff\xff', 'latin1')],
  ['SQLite', Buffer.from('SQLite format 3\0\x10\0', 'latin1')],
  ['PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')],
  ['Office', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0', 'latin1')],
  ['tar', tarOf('a.csv', 'a\n1\n')],
  ['zip', await zipOf({ 'a.csv': 'a\n1\n' })],
])('an error names the unsupported file type: %s', async (name, bytes) => {
  for (const format of ['csv', 'json', 'jsonl', 'xml'] as const) {
    for (const encoding of [undefined, 'windows-1252']) {
      const read = readTable(inputOf(bytes), format, { encoding, header: false, quote: '' });
      await expect(read).rejects.toMatchObject({ code: 'RECORDS_FORMAT', message: expect.stringContaining(name) });
    }
  }
});

/** A tar archive with one file (POSIX ustar), as far as readers check the format. */
function tarOf(name: string, content: string): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write('ustar\x0000', 257);
  return Buffer.concat([head, Buffer.from(content.padEnd(512, '\0'))]);
}
