import { ownNames, serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [7, 100];

const survey = (n: number, title: string) => ({
  id: String(n),
  title,
  response_count: n,
  date_modified: new Date(Date.UTC(2026, 0, 5, 10) + n * 1000).toISOString().slice(0, 19),
});
const row = (n: number) => [String(n), 'Hotel', null, null, null, String(n), null, `2026-01-05T10:00:0${n}Z`];

/** Surveys added after the first listing. */
let grown = 0;

/** Another version of the API has many rows. */
function surveys({ query, path }: Asked) {
  const page = Number(query.get('page'));
  const isMany = path.startsWith('/many');
  const count = isMany ? perPage : 3 + grown;
  const title = isMany ? 'Hotel '.repeat(4000) : 'Hotel';
  return {
    json: {
      data: Array.from({ length: count }, (_, i) => survey((page - 1) * perPage + i + 1, title)),
      links: isMany && page < pages ? { next: 'there is more' } : {},
    },
  };
}

export default serviceWorld({
  query: { stream: 'surveys' },
  routes: {
    'GET /v3/surveys': surveys,
    'GET /many/surveys': surveys,
    'GET /v3/surveys/{survey}/details': {
      json: { title: 'Hotel', pages: [{ questions: [{ id: 'q', headings: [{ heading: 'How was it?' }] }] }] },
    },
    'GET /v3/surveys/{survey}/responses/bulk': {
      json: { data: [{ id: '1', pages: [{ questions: [{ id: 'q', answers: [{ text: 'fine' }] }] }] }], links: {} },
    },
    'GET /v3/users/me': { json: { username: 'ann' } },
  },
  columns: [
    { name: 'id', type: 'text' },
    { name: 'title', type: 'text' },
    { name: 'nickname', type: 'text' },
    { name: 'language', type: 'text' },
    { name: 'questions', type: 'integer' },
    { name: 'responses', type: 'integer' },
    { name: 'created_at', type: 'timestamptz' },
    { name: 'updated_at', type: 'timestamptz' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { survey: '7' }, option: 'survey' },
    { query: { stream: 'answers', status: 'done' }, option: 'status' },
    { source: { data_center: 'mars' }, option: 'data_center' },
  ],
  many: { source: { api_version: 'many' }, rows: pages * perPage },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
  waived: ownNames,
});
