import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [66, 100];

const entry = (n: number) => ({ type: 'file', id: String(n), name: `${n}.csv`, size: n, sha1: 'f'.repeat(40) });
const row = (n: number) => [
  ...['0', 'file', String(n), `${n}.csv`, String(n), null, null, null, null, null],
  'f'.repeat(40),
];

function listed({ query, part }: Asked) {
  if (part.id !== 'many') return { json: { entries: [entry(1), entry(2), entry(3)], next_marker: null } };
  const page = Number(query.get('marker') ?? 0);
  const entries = Array.from({ length: perPage }, (_, i) => ({
    ...entry(page * perPage + i),
    name: 'report '.repeat(350),
  }));
  return { json: { entries, next_marker: page + 1 < pages ? String(page + 1) : '' } };
}

/** Events added after the first check. */
let grown = 0;

function happened({ query }: Asked) {
  const from = Number(query.get('stream_position') ?? 0);
  const entries = Array.from({ length: 3 + grown - from }, (_, i) => ({ event_id: `e${from + i + 1}` }));
  return { json: { chunk_size: entries.length, next_stream_position: 3 + grown, entries } };
}
const told = (n: number) => [`e${n}`, null, null, null, null, null, null];

function content({ part }: Asked) {
  const records = hostileValues.map((value) => Object.fromEntries(hostileNames.map((name) => [name, value])));
  return part.id === 'hostile' ? { json: records } : { text: 'id\n1\n' };
}

const columns = [
  ['folder', 'text'],
  ['kind', 'text'],
  ['id', 'text'],
  ['name', 'text'],
  ['size', 'integer'],
  ['created', 'timestamptz'],
  ['modified', 'timestamptz'],
  ['content_modified', 'timestamptz'],
  ['modified_by', 'text'],
  ['owner', 'text'],
  ['sha1', 'text'],
] as const;

export default serviceWorld({
  query: { stream: 'files' },
  routes: {
    'GET /2.0/folders/{id}/items': listed,
    'GET /2.0/events': happened,
    'GET /2.0/files/{id}': ({ part }) => ({ json: { id: part.id, name: `${part.id}.json` } }),
    'GET /2.0/files/{id}/content': content,
    'GET /2.0/search': { json: { entries: [{ id: '5', name: '5.csv' }] } },
    'GET /2.0/users/me': { json: { login: 'ann@example.com' } },
  },
  columns: columns.map(([name, type]) => ({ name, type })),
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { stream: 'content' }, option: 'file' },
    { query: { stream: 'newest' }, option: 'search' },
    { query: { stream: 'events', whose: 'everybody' }, option: 'whose' },
    { query: { incremental: true }, option: 'incremental' },
  ],
  many: { query: { folder: 'many' }, rows: pages * perPage },
  hostile: { query: { stream: 'content', file: 'hostile' } },
  resume: {
    query: { stream: 'events', incremental: true },
    grow: async () => {
      grown += 2;
      return [told(2 + grown), told(3 + grown)];
    },
  },
});
