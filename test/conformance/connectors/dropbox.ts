import { ownNames, serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [41, 200];

const entry = (id: number) => ({
  '.tag': 'file',
  id: `id:${id}`,
  name: `${id}.csv`,
  path_display: `/Reports/${id}.csv`,
  size: id,
  server_modified: '2026-01-05T10:00:00Z',
  rev: '0'.repeat(2000),
  content_hash: 'f'.repeat(64),
});
const row = (id: number) => [
  'file',
  `id:${id}`,
  `${id}.csv`,
  `/Reports/${id}.csv`,
  String(id),
  '2026-01-05T10:00:00Z',
  null,
  '0'.repeat(2000),
  'f'.repeat(64),
  'false',
];
const entries = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => entry(from + i));

/** Files added after the first listing. */
let grown = 0;

/** A cursor is the number of the next entry, in the short or the long list. */
function listed({ body }: Pick<Asked, 'body'>) {
  const [folder, at] = String(body.cursor ?? `${body.path} 1`).split(' ');
  const from = Number(at);
  const last = folder === '/many' ? pages * perPage : 3 + grown;
  const to = Math.min(from + perPage, last + 1);
  return { json: { entries: entries(from, to), cursor: `${folder} ${to}`, has_more: to <= last } };
}

export default serviceWorld({
  query: { stream: 'files', path: '/Reports' },
  routes: {
    'POST /2/files/list_folder': listed,
    'POST /2/files/list_folder/continue': listed,
    'POST /2/users/get_current_account': { json: { email: 'ann@example.com' } },
  },
  columns: [
    { name: 'kind', type: 'text' },
    { name: 'id', type: 'text' },
    { name: 'name', type: 'text' },
    { name: 'path', type: 'text' },
    { name: 'size', type: 'integer' },
    { name: 'modified', type: 'timestamptz' },
    { name: 'client_modified', type: 'timestamptz' },
    { name: 'rev', type: 'text' },
    { name: 'content_hash', type: 'text' },
    { name: 'deleted', type: 'boolean' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { stream: 'search' }, option: 'query' },
    { query: { query: 'x' }, option: 'query' },
    { query: { stream: 'sheets' }, option: 'stream' },
    { source: { api_url: 'ftp://x' }, option: 'api_url' },
  ],
  many: { query: { path: '/many' }, rows: pages * perPage },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
  waived: ownNames,
});
