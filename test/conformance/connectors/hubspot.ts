import { hostileNames, hostileValues } from '#sdk/testing';
import { type CrmObject, owners, properties, searched } from '../../connectors/doubles/hubspot.ts';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';

const [many, perPage] = [2_100, 200];

const record = (id: number, more: Record<string, string> = {}): CrmObject => ({
  id: String(id),
  createdAt: '2026-01-01T00:00:00Z',
  properties: { dealname: `Deal ${id}`, amount: `${id}.50`, hs_lastmodifieddate: changed(id), ...more },
});
const changed = (id: number) => `2026-01-05T10:00:${String(id % 60).padStart(2, '0')}Z`;
const row = (id: number) => [String(id), '2026-01-01T00:00:00Z', changed(id), `Deal ${id}`, `${id}.50`];

/** Deals added after the first run. */
let grown = 0;

function* records(last: number, more: (id: number) => Record<string, string> = () => ({})) {
  for (let id = 1; id <= last; id++) yield record(id, more(id));
}

const odd = (id: number) => Object.fromEntries(hostileNames.map((name) => [name, hostileValues[id - 1]!]));
const long = (id: number) => ({ name: 'company '.repeat(1000), domain: `${id}.example.com` });

export default serviceWorld({
  query: { stream: 'deals', properties: ['dealname', 'amount'] },
  routes: {
    'GET /crm/v3/properties/deals': properties({
      dealname: 'string',
      amount: 'number',
      dealstage: 'string',
      closedate: 'datetime',
    }),
    'POST /crm/v3/objects/deals/search': searched(() => records(3 + grown), 2),
    'GET /crm/v3/properties/companies': properties({ name: 'string', domain: 'string' }),
    'POST /crm/v3/objects/companies/search': searched(() => records(many, long), perPage),
    'GET /crm/v3/properties/contacts': properties(Object.fromEntries(hostileNames.map((name) => [name, 'string']))),
    'POST /crm/v3/objects/contacts/search': searched(function* () {
      for (const one of records(hostileValues.length, odd)) {
        yield { ...one, properties: { ...one.properties, lastmodifieddate: '2026-01-01T00:00:00Z' } };
      }
    }, 100),
    ...owners,
  },
  columns: [
    { name: 'id', type: 'text' },
    { name: 'created_at', type: 'timestamptz' },
    { name: 'updated_at', type: 'timestamptz' },
    { name: 'dealname', type: 'text' },
    { name: 'amount', type: 'decimal' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { stream: 'owners' }, option: 'properties' },
    { query: { stream: 'leads' }, option: 'stream' },
    { query: { end_date: '2026-01-31' }, option: 'end_date' },
    { query: { stream: 'stages', properties: undefined, incremental: true }, option: 'incremental' },
  ],
  many: { query: { stream: 'companies', properties: ['name', 'domain'] }, rows: many },
  hostile: { query: { stream: 'contacts', properties: hostileNames } },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
});
