import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [15, 100];
const jobs = '/bulk/v1/leads/export';

const activity = (n: number, subject: string) => ({
  marketoGUID: `g${n}`,
  leadId: n,
  activityDate: new Date(Date.UTC(2026, 0, 5, 10) + n * 1000).toISOString().replace('.000', ''),
  activityTypeId: 10,
  primaryAttributeValue: subject,
});
const row = (n: number) => [`g${n}`, String(n), `2026-01-05T10:00:0${n}Z`, '10', null, null, 'Mail', null];

/** Activities added after the first read. */
let grown = 0;

/** A token is the page number. Type 99 has many activities. */
function activities({ query }: Asked) {
  const page = Number(query.get('nextPageToken'));
  const isMany = query.get('activityTypeIds') === '99';
  const count = isMany ? perPage : 3 + grown;
  const subject = isMany ? 'Mail '.repeat(2200) : 'Mail';
  const result = Array.from({ length: count }, (_, i) => activity(page * perPage + i + 1, subject));
  return { json: { success: true, result, nextPageToken: String(page + 1), moreResult: isMany && page + 1 < pages } };
}

/** A table with the columns of the last order. */
let ordered: readonly string[] = [];

function create({ body }: Asked) {
  ordered = body.fields;
  return { json: { success: true, result: [{ exportId: 'e1' }] } };
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const table = () => {
  const isHostile = ordered.length === hostileNames.length;
  const lines = isHostile ? hostileValues.map((value) => ordered.map(() => value)) : [ordered.map(() => '1')];
  return { text: [ordered, ...lines].map((cells) => `${cells.map(quoted).join(',')}\n`).join('') };
};

const names = [...hostileNames, 'id', 'leadSource'];

export default serviceWorld({
  source: { munchkin: '123-ABC-456' },
  query: { stream: 'activities', activity_types: [10] },
  routes: {
    'GET /rest/v1/activities/pagingtoken.json': { json: { success: true, nextPageToken: '0' } },
    'GET /rest/v1/activities.json': activities,
    'GET /rest/v1/leads/describe.json': {
      json: {
        success: true,
        result: [
          ...names.map((name) => ({ dataType: 'string', rest: { name } })),
          { dataType: 'string', rest: { name: 'createdAt' } },
        ],
      },
    },
    [`POST ${jobs}/create.json`]: create,
    [`POST ${jobs}/e1/enqueue.json`]: { json: { success: true } },
    [`GET ${jobs}/e1/status.json`]: { json: { success: true, result: [{ status: 'Completed' }] } },
    [`GET ${jobs}/e1/file.json`]: table,
  },
  columns: [
    { name: 'id', type: 'text' },
    { name: 'lead_id', type: 'integer' },
    { name: 'at', type: 'timestamptz' },
    { name: 'activity_type', type: 'integer' },
    { name: 'campaign_id', type: 'integer' },
    { name: 'subject_id', type: 'integer' },
    { name: 'subject', type: 'text' },
    { name: 'attributes', type: 'json' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { activity_types: undefined }, option: 'activity_types' },
    { query: { by: 'updatedAt' }, option: 'by' },
    { source: { munchkin: 'no/such' }, option: 'munchkin' },
  ],
  many: { query: { activity_types: [99] }, rows: pages * perPage },
  hostile: { query: { stream: 'leads', activity_types: undefined, columns: hostileNames } },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
});
