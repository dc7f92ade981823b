import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [33, 100];
const note = 'note '.repeat(1000);

/** Records added after the first check. */
let grown = 0;

const changed = (id: number) => `2026-01-05T10:00:${String(id % 60).padStart(2, '0')}Z`;
const record = (id: number) => ({ id, created_date: changed(0), modified_date: changed(id), note: `${note}${id}` });
const row = (id: number) => ['7', String(id), changed(0), null, changed(id), null, `${note}${id}`];

function records({ part, query }: Asked) {
  const isHostile = part.page === '9';
  const last = isHostile ? hostileValues.length : part.page === '8' ? pages * perPage : 3 + grown;
  const from = Number(query.get('offset'));
  const length = Math.max(0, Math.min(perPage, last - from));
  const hostile = (id: number) => Object.fromEntries(hostileNames.map((name) => [name, hostileValues[id - 1]]));
  const made = Array.from({ length }, (_, i) => (isHostile ? hostile(from + i + 1) : record(from + i + 1)));
  return { json: made, headers: { 'total-count': String(last) } };
}

export default serviceWorld({
  source: { server: 'app' },
  query: { stream: 'records', profile: 47, page_id: 7 },
  routes: {
    'GET /exzact/api/v60/profiles/{profile}/pages/{page}/elements': ({ part }) => ({
      json: (part.page === '9' ? hostileNames : ['note']).map((name) => ({ name, data_type: 1 })),
    }),
    'GET /exzact/api/v60/profiles/{profile}/pages/{page}/records': records,
    'GET /exzact/api/v60/profiles': { json: [{ id: 47 }] },
  },
  columns: [
    { name: 'page', type: 'integer' },
    { name: 'id', type: 'integer' },
    { name: 'created_date', type: 'timestamptz' },
    { name: 'created_by', type: 'text' },
    { name: 'modified_date', type: 'timestamptz' },
    { name: 'modified_by', type: 'text' },
    { name: 'note', type: 'text' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { profile: undefined }, option: 'profile' },
    { query: { page_id: 'seven' }, option: 'page_id' },
    { source: { server: 'a/b' }, option: 'server' },
    { query: { start_date: 'soon' }, option: 'start_date' },
  ],
  many: { query: { page_id: 8 }, rows: pages * perPage },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
  waived: { hostile: 'columns of its own stand before those of the form' },
});
