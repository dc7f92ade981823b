import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [27, 500];

interface Named {
  readonly name: string;
}

/** Every dimension of row n has the same value; the property says how many rows there are. */
function report({ body, part }: Asked) {
  const rowCount = part.property === 'many' ? pages * perPage : part.property === 'hostile' ? hostileValues.length : 3;
  const from = Number(body.offset);
  const length = Math.min(perPage, rowCount - from);
  const cellOf = (name: string, n: number) => {
    if (part.property === 'hostile') return hostileValues[n];
    return name === 'date' ? `2026010${n + 1}` : `${'page '.repeat(240)}${n}`;
  };
  const row = (n: number) => ({
    dimensionValues: (body.dimensions as Named[]).map(({ name }) => ({ value: cellOf(name, n) })),
    metricValues: (body.metrics as Named[]).map(() => ({ value: `${n}.50` })),
  });
  return {
    json: {
      dimensionHeaders: body.dimensions,
      metricHeaders: body.metrics,
      rows: Array.from({ length }, (_, i) => row(from + i)),
      rowCount,
    },
  };
}

export default serviceWorld({
  query: { stream: 'report', property: '11', metrics: ['sessions'], start_date: '2026-01-01', end_date: '2026-01-03' },
  routes: {
    'POST /v1beta/properties/{property}:runReport': report,
    'GET /v1beta/accountSummaries': { json: {} },
  },
  columns: [
    { name: 'property', type: 'text' },
    { name: 'date', type: 'date' },
    { name: 'sessions', type: 'decimal' },
  ],
  rows: [0, 1, 2].map((n) => ['11', `2026-01-0${n + 1}`, `${n}.50`]),
  refused: [
    { query: { property: undefined }, option: 'property' },
    { query: { start_date: 'soon' }, option: 'start_date' },
    { query: { metrics: 'sessions' }, option: 'metrics' },
  ],
  many: { query: { property: 'many', dimensions: ['pageTitle'] }, rows: pages * perPage },
  hostile: { query: { property: 'hostile', dimensions: hostileNames, metrics: [] } },
  waived: { resume: 'figures of the last days are restated, so those days are read again on purpose' },
});
