import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [8, 100];

const row = (n: number, value: string, figures: number) => ({
  itemId: String(n),
  value,
  data: Array.from({ length: figures }, () => n),
});

/** The report suite determines the rows' number and content. */
function report({ body }: Asked) {
  const { page } = body.settings;
  const ids = (body.metricContainer.metrics as { columnId: string }[]).map(({ columnId }) => columnId);
  const shape = { lastPage: body.rsid !== 'many' || page === pages - 1, columns: { columnIds: ids } };
  if (body.rsid !== 'many') return { json: { ...shape, rows: [1, 2, 3].map((n) => row(n, `page ${n}`, ids.length)) } };
  const numbers = Array.from({ length: perPage }, (_, i) => page * perPage + i);
  return { json: { ...shape, rows: numbers.map((n) => row(n, 'page '.repeat(4450), ids.length)) } };
}

export default serviceWorld({
  source: { company: 'exampleco' },
  query: { stream: 'report', rsid: 'rs', dimension: 'variables/page', metrics: ['metrics/visits'] },
  routes: {
    'POST /api/exampleco/reports': report,
    'GET /discovery/me': { json: { imsOrgs: [{ companies: [{ globalCompanyId: 'exampleco' }] }] } },
  },
  columns: [
    { name: 'item_id', type: 'text' },
    { name: 'item', type: 'text' },
    { name: 'visits', type: 'decimal' },
  ],
  rows: [1, 2, 3].map((n) => [String(n), `page ${n}`, String(n)]),
  refused: [
    { query: { rsid: undefined }, option: 'rsid' },
    { query: { stream: 'daily', dimension: undefined }, option: 'dimension' },
    { query: { start_date: 'soon' }, option: 'start_date' },
    { source: { company: undefined }, option: 'company' },
  ],
  // A separate source has its own allowance: fewer waits.
  many: { source: { timezone: 'UTC' }, query: { rsid: 'many' }, rows: pages * perPage },
  waived: {
    hostile: 'the columns of metrics are figures, and everything else is declared',
    resume: 'figures of the last days are restated, so those days are read again on purpose',
  },
});
