import { api, described, kept, page, sinceOf } from '../../connectors/doubles/salesforce.ts';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [13, 200];

const changed = (id: number) => `2026-01-05T10:00:${String(id).padStart(2, '0')}.000+0000`;
const record = (id: number) =>
  JSON.stringify({ Name: `Deal ${id}`, Id: `006${id}`, Amount: id, SystemModstamp: changed(id) });
const row = (id: number) => [`Deal ${id}`, String(id), `006${id}`, changed(id).replace('.000+0000', 'Z')];

/** Records added after the first run. */
let grown = 0;

/** From that time on, two per page. */
function found(asked: Pick<Asked, 'query' | 'body'>) {
  const since = Date.parse(sinceOf(asked) || '2000-01-01');
  const ids = Array.from({ length: 3 + grown }, (_, i) => i + 1).filter((id) => Date.parse(changed(id)) >= since);
  return page(
    ids.slice(0, 2).map(record),
    ids.length > 2 ? { next: `few-${ids[2]}-${ids.length}`, total: ids.length } : undefined,
  );
}

function rest({ part }: Pick<Asked, 'part'>) {
  const [from = 0, total = 0] = String(part.from).split('-').map(Number);
  return page(
    Array.from({ length: 4 + grown - from }, (_, i) => record(from + i)),
    { total },
  );
}

/** A page of the long result, identified by the number of its first record. */
function many({ part }: Pick<Asked, 'part'>) {
  const from = Number(part.from ?? 0);
  const records = Array.from(
    { length: perPage },
    (_, i) => `{"Name":"${'n'.repeat(6400)}${from + i}","Id":"${from + i}"}`,
  );
  const next = from + perPage;
  const total = pages * perPage;
  return page(records, next < total ? { next: `many-${next}`, total } : { total });
}

const isMany = ({ query }: Pick<Asked, 'query'>) => query.get('q')?.includes('FROM Lead') === true;

export default serviceWorld({
  kept,
  query: {
    stream: 'records',
    object: 'Opportunity',
    columns: ['Name', 'Amount'],
    incremental: true,
  },
  routes: {
    [`GET ${api}/sobjects/{object}/describe`]: described({
      Id: 'id',
      Name: 'string',
      StageName: 'picklist',
      CloseDate: 'date',
      Amount: 'currency',
      SystemModstamp: 'datetime',
    }),
    [`GET ${api}/query`]: (asked) => (isMany(asked) ? many(asked) : found(asked)),
    [`GET ${api}/query/few-{from}`]: rest,
    [`GET ${api}/query/many-{from}`]: many,
    [`GET ${api}/limits`]: { json: { DailyApiRequests: { Max: 15000, Remaining: 14998 } } },
  },
  columns: [
    { name: 'Name', type: 'text' },
    { name: 'Amount', type: 'decimal' },
    { name: 'Id', type: 'text' },
    { name: 'SystemModstamp', type: 'timestamptz' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { object: undefined }, option: 'object' },
    { query: { stream: 'query', object: undefined, columns: undefined }, option: 'soql' },
    { query: { soql: 'SELECT Id FROM Lead' }, option: 'soql' },
    { source: { login_url: 'login.salesforce.com' }, option: 'login_url' },
  ],
  many: { query: { object: 'Lead', columns: ['Name', 'Id'], incremental: false }, rows: pages * perPage },
  resume: {
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
  waived: { hostile: 'names of fields are letters, digits and underscores, and nothing else ever comes' },
});
