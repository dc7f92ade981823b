import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [27, 100];

const time = (n: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, n)).toISOString();
const file = (n: number) => ({
  id: `f${n}`,
  name: `${n}.csv`,
  mimeType: 'text/csv',
  size: String(n),
  modifiedTime: time(n),
});
const row = (n: number) => [`f${n}`, `${n}.csv`, 'text/csv', String(n), null, time(n), null, null, null, null, null];

/** Files added after the first listing. */
let grown = 0;

function listed({ query }: Asked) {
  const q = query.get('q') ?? '';
  if (q.includes('many')) {
    const page = Number(query.get('pageToken') ?? 0);
    const files = Array.from({ length: perPage }, (_, i) => ({
      ...file(page * perPage + i),
      webViewLink: 'https://drive.google.com/'.padEnd(6000, 'x'),
    }));
    return { json: { files, ...(page + 1 < pages ? { nextPageToken: page + 1 } : {}) } };
  }
  const since = /modifiedTime >= '([^']+)'/.exec(q)?.[1] ?? '';
  const files = Array.from({ length: 3 + grown }, (_, i) => file(i + 1)).filter(
    ({ modifiedTime }) => since === '' || Date.parse(modifiedTime) >= Date.parse(since),
  );
  return { json: { files } };
}

function one({ part, query }: Asked) {
  if (query.get('alt') !== 'media') {
    return {
      json: { id: part.id, name: part.id === 'hostile' ? 'hostile.json' : `${part.id}.csv`, mimeType: 'text/csv' },
    };
  }
  const records = hostileValues.map((value) => Object.fromEntries(hostileNames.map((name) => [name, value])));
  return part.id === 'hostile' ? { json: records } : { text: 'id\n1\n' };
}

const columns = [
  ['id', 'text'],
  ['name', 'text'],
  ['type', 'text'],
  ['size', 'integer'],
  ['created', 'timestamptz'],
  ['modified', 'timestamptz'],
  ['modified_by', 'text'],
  ['owner', 'text'],
  ['folder', 'text'],
  ['trashed', 'boolean'],
  ['link', 'text'],
] as const;

export default serviceWorld({
  query: { stream: 'files' },
  routes: {
    'GET /drive/v3/files': listed,
    'GET /drive/v3/files/{id}': one,
    'GET /drive/v3/about': { json: { user: { emailAddress: 'ann@example.com' } } },
  },
  columns: columns.map(([name, type]) => ({ name, type })),
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { stream: 'content' }, option: 'file' },
    { query: { stream: 'newest', delimiter: '' }, option: 'delimiter' },
    { query: { file: 'x' }, option: 'file' },
    { query: { stream: 'storage', incremental: true }, option: 'incremental' },
  ],
  many: { query: { search: 'many' }, rows: pages * perPage },
  hostile: { query: { stream: 'content', file: 'hostile' } },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
});
