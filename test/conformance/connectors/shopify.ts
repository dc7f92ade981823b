import type { ColumnType } from '../../../src/sdk/index.ts';
import { ownNames, serviceWorld } from '../../connectors/doubles/service-world.ts';
import { api, cost, listed, order, orderColumns, orderRow, shopGuard } from '../../connectors/doubles/shopify.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [14, 150];

const changed = (id: number) => `2026-01-05T10:00:${String(id).padStart(2, '0')}Z`;
const columns = orderColumns.map((text) => {
  const [name, type] = text.split(' ') as [string, ColumnType];
  return { name, type };
});

/** Orders added after the first run. */
let grown = 0;

function answer(asked: Asked) {
  const { query, variables } = asked.body;
  if (query.includes('shop {')) return { json: { data: { shop: { name: 'Acme Toys', currencyCode: 'EUR' } } } };
  if (query.includes('productVariants')) return many(variables.after);
  const since = /'([^']+)'/.exec(variables.query ?? '')?.[1] ?? '';
  const ids = Array.from({ length: 3 + grown }, (_, i) => i + 1).filter((id) => changed(id) >= since);
  return listed(
    ids.map((id) => order(id, changed(id))),
    asked,
  );
}

function many(after: string | undefined) {
  const from = Number(after ?? 0);
  const to = from + perPage;
  const nodes = Array.from({ length: perPage }, (_, i) => ({
    legacyResourceId: from + i,
    title: 'variant '.repeat(1050),
  }));
  const pageInfo = { hasNextPage: to < pages * perPage, endCursor: String(to) };
  return { json: { data: { list: { nodes, pageInfo } }, extensions: cost(1990) } };
}

export default serviceWorld({
  source: { shop: 'acme', token: 'shpat-good' },
  query: { stream: 'orders' },
  routes: { [`POST ${api}/graphql.json`]: answer },
  columns,
  rows: [1, 2, 3].map((id) => orderRow(id, changed(id))),
  refused: [
    { source: { shop: 'acme.myshopify.com' }, option: 'shop' },
    { query: { stream: 'order_lines', filter: 'test:false' }, option: 'filter' },
    { query: { page_size: 500 }, option: 'page_size' },
    { query: { stream: 'variants', incremental: true }, option: 'incremental' },
  ],
  many: { query: { stream: 'variants' }, rows: pages * perPage },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [2 + grown, 3 + grown].map((id) => orderRow(id, changed(id)));
    },
  },
  login: { wrong: { token: 'shpat-wrong' }, guard: shopGuard('shpat-good') },
  waived: ownNames,
});
