import { expect, it } from 'vitest';
import { type ListingForm, parseListing } from '../../connectors/ftp/listing.ts';

const parse = (line: string, form: ListingForm = 'LIST') => parseListing(`${line}\r\n`, { form, folder: '/in' })[0];

it.each([
  ['-rw-r--r--   1 owner group   57 Jan 02 03:04 a b.csv', { name: 'a b.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--.  1 owner group   57 Jan  2  2024 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--@  1 owner staff   57 Jan 02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--+  1 1000 1000     57 Jan 02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 14 users    1024 Jan 02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 1024 }],
  ['-rw-r--r--   1 Domain Users Domain Admins 1024 2 juin 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 1024 }],
  ['-rw-r--r--   1 owner group   57 juin 02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 owner group   57 févr. 02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 owner group   57 2. Jan 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 owner group   57  1月  2日 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 owner group   57 2026-01-02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 57 Jan 02 03:04 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['-rw-r--r--   1 owner group 1.2M Jan 02 03:04 a.csv', { name: 'a.csv', kind: 'file' }],
  ['-rw-r--r--   1 owner group   57 Jan 02 03:04  lead.csv', { name: ' lead.csv', kind: 'file', size: 57 }],
  ['?---------   1 owner group   57 Jan 02 03:04 a.csv', { name: 'a.csv', kind: 'unknown', size: 57 }],
  ['-????????? ? ? ? ? ? a b.csv', { name: 'a b.csv', kind: 'file' }],
  ['drwxr-xr-x   2 owner group 4096 Jan 02 03:04 sub', { name: 'sub', kind: 'folder', size: 4096 }],
  ['prw-r--r--   1 owner group    0 Jan 02 03:04 pipe', { name: 'pipe', kind: 'other', size: 0 }],
  ['crw-r--r--   1 owner group  8, 0 Jan 02 03:04 dev', { name: 'dev', kind: 'other' }],
  [
    'lrwxrwxrwx   1 owner group    5 Jan 02 03:04 l.csv -> ../a.csv',
    { name: 'l.csv', kind: 'link', target: '../a.csv' },
  ],
  [
    'lrwxrwxrwx   1 owner group    5 Jan 02 03:04 l.csv -> a -> b.csv',
    { name: 'l.csv', kind: 'link', target: 'a -> b.csv' },
  ],
  ['01-02-26  03:04PM                   57 a b.csv', { name: 'a b.csv', kind: 'file', size: 57 }],
  ['2026-01-02  15:04                1,024 a.csv', { name: 'a.csv', kind: 'file' }],
  ['01-02-26  03:04PM       <DIR>          sub dir', { name: 'sub dir', kind: 'folder' }],
  [
    '01-02-26  03:04PM       <SYMLINK>      l.csv [\\??\\C:\\a.csv]',
    { name: 'l.csv', kind: 'unknown', target: '\\??\\C:\\a.csv' },
  ],
])('parses the LIST line %s', (line, entry) => expect(parse(line)).toEqual(entry));

const modified = Date.UTC(2026, 0, 2, 3, 4, 5);

it.each([
  ['type=file;size=57;modify=20260102030405; a b.csv', { name: 'a b.csv', kind: 'file', size: 57, modified }],
  [
    'Type=File;Size=57;Modify=20260102030405.250; a.csv',
    { name: 'a.csv', kind: 'file', size: 57, modified: modified + 250 },
  ],
  ['modify=20260102030405.5; a.csv', { name: 'a.csv', kind: 'unknown', modified: modified + 500 }],
  ['TYPE=DIR;UNIQUE=7; sub', { name: 'sub', kind: 'folder' }],
  ['type=file;size=57;modify=unknown; a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
  ['size=57;modify=20260102030405; a.csv', { name: 'a.csv', kind: 'unknown', size: 57, modified }],
  [
    'type=OS.unix=slink:/in/my file.csv;size=5; l.csv',
    { name: 'l.csv', kind: 'link', target: '/in/my file.csv', size: 5 },
  ],
  ['type=OS.unix=symlink;size=5; l.csv', { name: 'l.csv', kind: 'link', size: 5 }],
  [' only a name; x=1.csv', { name: 'only a name; x=1.csv', kind: 'unknown' }],
  ['type=file; a=1; b.csv', { name: 'a=1; b.csv', kind: 'file' }],
  ['type=file;size=57 a.csv', { name: 'a.csv', kind: 'file', size: 57 }],
])('parses the MLSD line %s', (line, entry) => expect(parse(line, 'MLSD')).toEqual(entry));

it.each([
  ['LIST', 'ls: a.csv: Permission denied'],
  ['LIST', 'a.csv'],
  ['LIST', 'A.CSV;1   3/3   2-JAN-2026 03:04'],
  ['LIST', '-rw-r--r--   1 owner group   57 a.csv'],
  ['LIST', '-rw-r--r--   1 owner group   57 Jan 02 03:04 sub/a.csv'],
  ['MLSD', 'a.csv'],
  ['MLSD', '-rw-r--r--   1 owner group   57 Jan 02 03:04 a.csv'],
] as const)('rejects a listing with an unknown %s line, and shows that line: %s', (form, line) => {
  const good = form === 'LIST' ? '-rw-r--r-- 1 owner group 57 Jan 02 03:04 b.csv' : 'type=file;size=1; b.csv';
  for (const text of [`${line}\r\n${good}\r\n`, `${good}\r\n${line}\r\n`]) {
    const refusal = { code: 'FTP_LISTING', family: 'job', seen: line, message: expect.stringContaining('/in') };
    expect(() => parseListing(text, { form, folder: '/in' })).toThrow(expect.objectContaining(refusal));
  }
});

it('skips only the block count, the folder itself and its parent', () => {
  const unix = ['total 12', 'drwxr-xr-x 2 o g 4096 Jan 02 03:04 .', 'drwxr-xr-x 2 o g 4096 Jan 02 03:04 ..'];
  expect(parseListing(unix.join('\n'), { form: 'LIST', folder: '/in' })).toEqual([]);
  expect(
    parseListing('insgesamt 12\n-rw-r--r-- 1 o g 5 Jan 02 03:04 total.csv', { form: 'LIST', folder: '/in' }),
  ).toEqual([{ name: 'total.csv', kind: 'file', size: 5 }]);
  const machine = 'type=cdir; /in\r\nType=PDir; /\r\ntype=file; total 5\r\n';
  expect(parseListing(machine, { form: 'MLSD', folder: '/in' })).toEqual([{ name: 'total 5', kind: 'file' }]);
  expect(parseListing('', { form: 'LIST', folder: '/in' })).toEqual([]);
});

it('takes no longer to parse a hostile line than a valid one', () => {
  const lines = [
    `${'1 '.repeat(200_000)}`,
    `-rw-r--r-- ${' '.repeat(400_000)}`,
    `-rw-r--r-- ${'1 2 Jan '.repeat(50_000)}`,
  ];
  const began = process.threadCpuUsage().user;
  for (const line of lines) expect(() => parse(line)).toThrow('cannot parse');
  for (const line of [`${'='.repeat(400_000)}`, `${'a=b;'.repeat(100_000)}`, `a=${'b'.repeat(400_000)}`]) {
    expect(() => parse(line, 'MLSD')).toThrow('cannot parse');
  }
  expect(process.threadCpuUsage().user - began, 'microseconds of its own').toBeLessThan(5_000_000);
});
