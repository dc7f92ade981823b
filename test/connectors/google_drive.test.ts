import { expect, it } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import drive from '../../connectors/google_drive.ts';
import { zipOf } from '../sdk/archives.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked, Reply, Routes } from './doubles/vendor.ts';

/** A field of every list, which may be all that an empty list contains. */
const kind = 'drive#fileList';

const file = (n: number) => ({
  id: `f${n}`,
  name: `${n}.csv`,
  mimeType: 'text/csv',
  size: '9007199254740993',
  createdTime: '2026-01-01T10:00:00.000Z',
  modifiedTime: `2026-01-0${n}T10:00:00.000Z`,
  lastModifyingUser: { emailAddress: 'bob@example.com' },
  owners: [{ emailAddress: 'ann@example.com' }],
  parents: ['folder1'],
  trashed: false,
  webViewLink: `https://drive.google.com/file/d/f${n}/view`,
});
const row = (n: number) =>
  [
    `f${n}`,
    `${n}.csv`,
    'text/csv',
    '9007199254740993',
    '2026-01-01T10:00:00Z',
    `2026-01-0${n}T10:00:00Z`,
    'bob@example.com',
    'ann@example.com',
    'folder1',
    'false',
    `https://drive.google.com/file/d/f${n}/view`,
  ].map((cell) => cell.replace('T10:00:00Z', 'T10:00:00.000Z'));

const listing: ServiceCase = {
  service: drive,
  query: { stream: 'files', search: "name contains 'o''r'", folder: "it's" },
  routes: {
    'GET /drive/v3/files': ({ query }: Asked) => {
      const token = query.get('pageToken');
      if (token === null) return { json: { files: [file(1), file(2)], nextPageToken: 'p2' } };
      return { json: token === 'p2' ? { kind, nextPageToken: 'p3' } : { files: [file(3)] } };
    },
    'GET /drive/v3/about': {
      json: {
        user: { emailAddress: 'ann@example.com' },
        storageQuota: { limit: '16106127360', usage: '9007199254740993', usageInDrive: '5', usageInDriveTrash: '0' },
      },
    },
  },
};
const asked = (q: string, token = '') =>
  `GET /drive/v3/files?q=${q}&orderBy=modifiedTime&pageSize=1000${token}&fields=kind,incompleteSearch,nextPageToken,files(id,name,mimeType,modifiedTime,createdTime,size,parents,owners(emailAddress),lastModifyingUser(emailAddress),trashed,webViewLink)&supportsAllDrives=true&includeItemsFromAllDrives=true`;
const searched = "(name contains 'o''r') and 'it\\'s' in parents and trashed = false";

const refusal = (status: number, reason: string): Reply => ({
  status,
  json: { error: { code: status, message: `it is ${reason}`, errors: [{ domain: 'usageLimits', reason }] } },
});

describeStream(
  'a Google Drive',
  listing,
  {
    rows: [row(1), row(2), row(3)],
    asked: [asked(searched), asked(searched, '&pageToken=p2'), asked(searched, '&pageToken=p3')],
  },
  [
    {
      name: 'a rate limit with status 403, once',
      faults: [
        { at: 2, reply: { ...refusal(403, 'userRateLimitExceeded'), headers: { 'retry-after': '0' } } },
        { at: 3, reply: { ...refusal(403, 'rateLimitExceeded'), headers: { 'retry-after': '0' } } },
      ],
    },
    {
      name: 'a daily allowance',
      faults: [{ at: 1, reply: refusal(403, 'dailyLimitExceeded') }],
      problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
    },
    {
      name: 'any other 403',
      faults: [{ at: 1, reply: refusal(403, 'insufficientFilePermissions') }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
    {
      name: 'an API that is not enabled',
      faults: [{ at: 1, reply: refusal(403, 'accessNotConfigured') }],
      problem: { code: 'SERVICE_PERMISSION', next: expect.stringContaining('enable the Google Drive API') },
    },
    {
      name: 'an invalid search',
      faults: [{ at: 1, reply: refusal(400, 'invalid') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('`search`') },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const { rows, login } = await runService({ ...listing, guard: expiringAfter(2) });
  expect(rows).toEqual([row(1), row(2), row(3)]);
  expect(login.refusals).toEqual(['token-1']);
});

it('continues from the last change, and returns a file that changed at that time only once', async () => {
  const first = await runService({ ...listing, query: { incremental: true } });
  expect(first.watermark).toContain('2026-01-03T10:00:00');
  const routes = { 'GET /drive/v3/files': { json: { files: [file(3), file(4)] } } };
  const second = await runService({ ...listing, routes, query: { incremental: true }, watermark: first.watermark! });
  expect(second.rows).toEqual([row(4)]);
  expect(second.asked).toEqual([asked("trashed = false and modifiedTime >= '2026-01-03T10:00:00Z'")]);
});

it('searches a shared drive for files modified since a date', async () => {
  const query = { drive: 'd1', start_date: '2026-01-02', trashed: true };
  const { asked: lines } = await runService({ ...listing, query });
  expect(lines[0]).toContain("?q=modifiedTime >= '2026-01-02T00:00:00Z'&");
  expect(lines[0]).toContain('&corpora=drive&driveId=d1');
});

it('reports the remaining space and the logged-in user', async () => {
  const { rows } = await runService({ ...listing, query: { stream: 'storage' } });
  expect(rows).toEqual([['ann@example.com', '16106127360', '9007199254740993', '5', '0']]);
  expect(await checkServiceCase(listing)).toBe('logged in as ann@example.com');
});

const native = 'application/vnd.google-apps.spreadsheet';
const workbook = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** A Drive with these files: it serves their metadata and, on request, their bytes. */
function holding(files: Readonly<Record<string, { name: string; mimeType: string; bytes?: Reply }>>): Routes {
  const meta = (id: string) => {
    const { name, mimeType } = files[id]!;
    return { id, name, mimeType, modifiedTime: '2026-01-05T10:00:00.000Z' };
  };
  return {
    'GET /drive/v3/files': ({ query }: Asked) => ({
      json: {
        files: Object.keys(files)
          .slice(0, Number(query.get('pageSize')))
          .map(meta),
      },
    }),
    'GET /drive/v3/files/{id}': ({ part, query }: Asked) => {
      const { id = '' } = part;
      if (files[id] === undefined) return refusal(404, 'notFound');
      return query.get('alt') === 'media' ? files[id].bytes! : { json: meta(id) };
    },
    'GET /drive/v3/files/{id}/export': ({ part }: Asked) => files[part.id!]!.bytes!,
  };
}
const reading = (routes: Routes, query: Readonly<Record<string, unknown>>): ServiceCase => ({
  service: drive,
  routes,
  query: { stream: 'content', ...query },
});

it('reads files by ID, in the format that their name or type indicates', async () => {
  const routes = holding({
    a: { name: 'a.csv', mimeType: 'text/plain', bytes: { text: 'id,paid\n1,12.50\n' } },
    b: { name: 'b', mimeType: 'text/csv', bytes: { text: 'id,paid\n2,7\n' } },
    z: { name: 'z.zip', mimeType: 'application/zip', bytes: { text: await zipOf({ 'c.csv': 'id,paid\n3,1\n' }) } },
  });
  const outcome = await runService(reading(routes, { file: 'a, b,z', path_column: 'file' }));
  expect(outcome.rows).toEqual([
    ['a.csv', '1', '12.50'],
    ['b.csv', '2', '7'],
    ['z.zip/c.csv', '3', '1'],
  ]);
  expect([outcome.asked[0], outcome.asked[3]]).toEqual([
    'GET /drive/v3/files/a?fields=id,name,mimeType,modifiedTime&supportsAllDrives=true',
    'GET /drive/v3/files/a?alt=media&supportsAllDrives=true',
  ]);
});

it('exports a Google spreadsheet as a workbook or as CSV', async () => {
  const book = await writeXlsxFile([[{ value: 'id' }], [{ value: 1 }]]).toBuffer();
  const sheet = (bytes: Reply) => holding({ s: { name: 'Orders', mimeType: native, bytes } });
  const asBook = await runService(reading(sheet({ text: book }), { file: 's' }));
  expect(asBook.rows).toEqual([['1']]);
  expect(asBook.asked[1]).toBe(`GET /drive/v3/files/s/export?mimeType=${workbook}&supportsAllDrives=true`);
  const asCsv = await runService(reading(sheet({ text: 'id\n2\n' }), { file: 's', format: 'csv' }));
  expect(asCsv.rows).toEqual([['2']]);
  expect(asCsv.asked[1]).toContain('/export?mimeType=text/csv');
  expect(await failService(reading(sheet(refusal(403, 'exportSizeLimitExceeded')), { file: 's' }))).toMatchObject({
    code: 'SERVICE_REFUSED',
    family: 'config',
    next: expect.stringContaining('google_spreadsheets'),
  });
});

it('reads the newest file that a search finds', async () => {
  const routes = holding({
    new: { name: 'new.csv', mimeType: 'text/csv', bytes: { text: 'id\n2\n' } },
    old: { name: 'old.csv', mimeType: 'text/csv', bytes: { text: 'id\n1\n' } },
  });
  const query = { stream: 'newest', search: "name contains 'orders'" };
  const outcome = await runService(reading(routes, query));
  expect(outcome.rows).toEqual([['2']]);
  expect(outcome.asked[0]).toBe(
    "GET /drive/v3/files?q=mimeType != 'application/vnd.google-apps.folder' and (name contains 'orders') and trashed = false&orderBy=modifiedTime desc&pageSize=1&fields=kind,incompleteSearch,files(id,name,mimeType,modifiedTime)&supportsAllDrives=true&includeItemsFromAllDrives=true",
  );
  expect((await runService(reading(routes, { ...query, count: 2 }))).rows).toEqual([['2'], ['1']]);
  const first = await runService(reading(routes, { ...query, incremental: true }));
  const again = { ...reading(routes, { ...query, incremental: true }), watermark: first.watermark! };
  expect(await runService(again)).toMatchObject({ rows: [], unchanged: true, asked: [outcome.asked[0]] });
  expect(await failService(reading(holding({}), query))).toMatchObject({ code: 'SERVICE_NO_FILE' });
});

it("rejects a file that isn't a table, and names a missing file", async () => {
  const routes = holding({ d: { name: 'Letter', mimeType: 'application/vnd.google-apps.document' } });
  expect(await failService(reading(routes, { file: 'd' }))).toMatchObject({
    code: 'SERVICE_NO_TABLE',
    family: 'config',
    message: expect.stringContaining('Letter'),
  });
  expect(await failService(reading(routes, { file: 'missing' }))).toMatchObject({
    code: 'SERVICE_REFUSED',
    seen: expect.stringContaining('it is notFound'),
  });
});

it('recognizes a rate limit even though its status is 403', async () => {
  const faults = [{ at: 1, reply: refusal(403, 'userRateLimitExceeded') }];
  expect(await failService({ ...listing, faults, source: { ...listing.source, retries: 0 } })).toMatchObject({
    family: 'try_later',
    isRateLimit: true,
  });
});
