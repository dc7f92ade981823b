import { expect, it } from 'vitest';
import shopify from '../../connectors/shopify.ts';
import {
  checkServiceCase,
  describeStream,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import { api, cost, graphError, listed, order, orderColumns, orderRow, shopGuard } from './doubles/shopify.ts';
import type { Asked, Reply } from './doubles/vendor.ts';

const graph = `POST ${api}/graphql.json`;
const day = (n: number) => `2026-01-0${n}T10:00:00Z`;
const guard = shopGuard('token-1', 'token-2');
const some = [order(1, day(1)), order(2, day(2)), order(3, day(3))];
const orders: ServiceCase = {
  service: shopify,
  source: { shop: 'acme' },
  query: { stream: 'orders' },
  routes: { [graph]: (asked) => listed(some, asked) },
  guard,
};
const rows = [1, 2, 3].map((n) => orderRow(n, day(n)));
/** The variables of every request. */
const variables = ({ vendor }: { vendor: { asked: readonly Asked[] } }) =>
  vendor.asked.map(({ body }) => body?.variables);

describeStream('Shopify orders', orders, { columns: orderColumns, rows }, [
  {
    name: 'an empty bucket, with status 200',
    faults: [{ at: 2, reply: graphError('THROTTLED') }],
  },
  {
    name: 'an error from the vendor, with status 200',
    faults: [{ at: 1, reply: graphError('INTERNAL_SERVER_ERROR') }],
  },
  {
    name: 'a missing scope, with status 200',
    faults: [{ at: 1, reply: graphError('ACCESS_DENIED', 'Required access: read_orders') }],
    problem: { code: 'SERVICE_PERMISSION', family: 'login' },
  },
  {
    name: 'a request that costs too much',
    faults: [{ at: 1, reply: graphError('MAX_COST_EXCEEDED') }],
    problem: { code: 'SERVICE_REFUSED', family: 'config', next: 'lower `page_size`' },
  },
  {
    name: 'an unknown field',
    faults: [{ at: 1, reply: graphError('undefinedField') }],
    problem: { code: 'SERVICE_REFUSED', family: 'config' },
  },
  {
    name: 'a repeated page',
    faults: [{ at: 2, reply: 'repeat' }],
    problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
  },
  {
    name: 'an unknown shop',
    faults: [{ at: 1, reply: { status: 404, json: { errors: 'Not Found' } } }],
    problem: { code: 'SERVICE_REFUSED', family: 'config' },
  },
]);

it('requests page after page with the last cursor', async () => {
  const outcome = await runService({ ...orders, query: { stream: 'orders', filter: 'test:false', page_size: 2 } });
  expect(variables(outcome)).toEqual([
    { first: 2, query: '(test:false)' },
    { first: 2, after: '2', query: '(test:false)' },
  ]);
  expect(outcome.vendor.asked[0]?.body.query).toMatch(/list: orders\(.*sortKey: UPDATED_AT\)/);
});

it("renews a token that expires between two pages, and sends it in the vendor's header", async () => {
  let taken = 0;
  const expiring = (asked: Asked) =>
    asked.headers['x-shopify-access-token'] === 'token-1' && ++taken > 1 ? { status: 401, json: {} } : guard(asked);
  const { rows: read, login, vendor } = await runService({ ...orders, guard: expiring });
  expect([read, login.refusals]).toEqual([rows, ['token-1']]);
  expect(vendor.asked.every(({ headers }) => headers.authorization === undefined)).toBe(true);
});

it('continues from the latest change', async () => {
  const given = { ...orders, query: { stream: 'orders', incremental: true } };
  const first = await runService(given);
  expect(first.watermark).toBe(`{"since":"${day(3)}","edge":["3"]}`);
  const changed = [order(3, day(3)), order(1, day(4))];
  const routes = { [graph]: (asked: Asked) => listed(changed, asked) };
  const second = await runService({ ...given, watermark: first.watermark!, routes });
  expect(second.rows).toEqual([orderRow(1, day(4))]);
  expect(variables(second)[0]).toEqual({ first: 50, query: `updated_at:>='${day(3)}'` });
});

/** A bulk operation, which is complete as soon as it's checked, and its file. */
function bulk(text: string | null, sent: (string | undefined)[] = []) {
  return {
    [graph]: ({ body, base }: Asked): Reply => {
      const bulkOperation = { id: 'gid://shopify/BulkOperation/1' };
      const node = { status: 'COMPLETED', errorCode: null, url: text === null ? null : `${base}/files/1?signature=x` };
      const data = body.query.startsWith('mutation')
        ? { bulkOperationRunQuery: { bulkOperation, userErrors: [] } }
        : { node };
      return { json: { data, extensions: cost(1990) } };
    },
    'GET /files/1': ({ headers }: Asked): Reply => {
      sent.push(headers['x-shopify-access-token'] as string | undefined);
      return { text: text ?? '' };
    },
  };
}
const lines = some.map((one) => JSON.stringify({ id: `gid://shopify/Order/${one.legacyResourceId}`, ...one }));
const sent: (string | undefined)[] = [];
const inBulk: ServiceCase = {
  ...orders,
  query: { stream: 'bulk_orders' },
  routes: bulk(`${lines.join('\n')}\n`, sent),
  guard: (asked) => (asked.path.startsWith('/files') ? undefined : guard(asked)),
};

describeStream('a Shopify bulk operation', inBulk, { columns: orderColumns, rows }, [
  {
    name: 'a failed operation',
    faults: [{ at: 2, reply: { json: { data: { node: { status: 'FAILED', errorCode: 'TIMEOUT' } } } } }],
    problem: { code: 'SERVICE_JOB_FAILED', family: 'try_later' },
  },
  {
    name: 'a rejected search',
    faults: [
      {
        at: 1,
        reply: { json: { data: { bulkOperationRunQuery: { userErrors: [{ code: 'INVALID', message: 'no' }] } } } },
      },
    ],
    problem: { code: 'SERVICE_REFUSED', family: 'config' },
  },
]);

it("downloads a bulk operation's file without the token, resumes, and treats a missing file as no orders", async () => {
  const query = { stream: 'bulk_orders', incremental: true };
  const first = await runService({ ...inBulk, query });
  expect(new Set(sent)).toEqual(new Set([undefined]));
  const again = { ...inBulk, query, watermark: first.watermark!, routes: bulk(null) };
  const second = await runService(again);
  expect([second.rows, second.unchanged, second.watermark]).toEqual([[], true, first.watermark]);
  expect(second.vendor.asked[0]?.body.variables.query).toContain(`orders(query: "updated_at:>='${day(3)}'")`);
});

const rest = (id: number, updated: string, items: readonly object[]) => ({
  id,
  name: `#${id}`,
  created_at: '2026-01-01T10:00:00+01:00',
  updated_at: updated,
  cancelled_at: null,
  currency: 'EUR',
  financial_status: 'paid',
  line_items: items,
});
const item = (id: number) => ({
  id,
  product_id: 7,
  variant_id: 70,
  sku: 'A-1',
  title: 'Ball',
  quantity: 2,
  price: '9.95',
  total_discount: '0.00',
});
const lineRow = (id: number, orderId: number, updated: string) =>
  [
    id,
    orderId,
    `#${orderId}`,
    '2026-01-01T10:00:00+01:00',
    updated,
    null,
    'paid',
    7,
    70,
    'A-1',
    'Ball',
    null,
    2,
    'EUR',
    '9.95',
    '0.00',
  ].map((cell) => (cell === null ? null : String(cell)));
const orderLines: ServiceCase = {
  ...orders,
  query: { stream: 'order_lines', start_date: '2026-01-01' },
  routes: {
    [`GET ${api}/orders.json`]: ({ query, base }): Reply =>
      query.has('page_info')
        ? {
            headers: { link: `<${base}${api}/orders.json?limit=250&page_info=aaa>; rel="previous"` },
            json: { orders: [rest(2, day(2), []), rest(3, day(3), [item(31)])] },
          }
        : {
            headers: {
              link: `<${base}${api}/orders.json?limit=250&page_info=abc>; rel="next"`,
              'x-shopify-shop-api-call-limit': '10/40',
            },
            json: { orders: [rest(1, day(1), [item(11), item(12)])] },
          },
  },
};

describeStream(
  'Shopify order lines',
  orderLines,
  {
    rows: [lineRow(11, 1, day(1)), lineRow(12, 1, day(1)), lineRow(31, 3, day(3))],
    asked: [
      `GET ${api}/orders.json?status=any&limit=250&order=updated_at asc&updated_at_min=2026-01-01T00:00:00Z&fields=id,name,created_at,updated_at,cancelled_at,currency,financial_status,line_items`,
      `GET ${api}/orders.json?limit=250&page_info=abc`,
    ],
  },
  [
    { name: 'a wait with a fraction', faults: [{ at: 2, reply: { status: 429, headers: { 'retry-after': '0.1' } } }] },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('lists customers and variants', async () => {
  const customer = {
    legacyResourceId: '5',
    createdAt: day(1),
    updatedAt: day(2),
    state: 'ENABLED',
    numberOfOrders: '3',
    amountSpent: { amount: '29.85', currencyCode: 'EUR' },
  };
  const product = { legacyResourceId: '7', title: 'Ball', vendor: 'Acme', productType: 'Toys', status: 'ACTIVE' };
  const variant = {
    legacyResourceId: '70',
    sku: 'A-1',
    title: 'Red',
    price: '9.95',
    inventoryQuantity: -1,
    updatedAt: day(1),
    product,
  };
  const routes = {
    [graph]: (asked: Asked) => listed(asked.body.query.includes('productVariants') ? [variant] : [customer], asked),
  };
  const read = async (stream: string) => (await runService({ ...orders, routes, query: { stream } })).rows;
  expect(await read('customers')).toEqual([['5', day(1), day(2), 'ENABLED', '3', '29.85', 'EUR']]);
  expect(await read('variants')).toEqual([
    ['70', 'A-1', 'Red', '9.95', '-1', day(1), '7', 'Ball', 'Acme', 'Toys', 'ACTIVE'],
  ]);
});

it("can name the shop with the token of the shop's own app", async () => {
  const routes = { [graph]: { json: { data: { shop: { name: 'Acme Toys', currencyCode: 'EUR' } } } } };
  const given = { ...orders, source: { shop: 'acme', token: 'shpat_x' }, guard: shopGuard('shpat_x'), routes };
  expect(await checkServiceCase(given)).toBe('shop Acme Toys, currency EUR');
  expect(shopify.oauth?.({ shop: 'acme', token: 'shpat_x' })).toBeUndefined();
  const wrong = { ...given, source: { shop: 'acme', token: 'shpat_y' } };
  expect(await failService(wrong)).toMatchObject({ code: 'SERVICE_LOGIN', family: 'login' });
});

it('requests expiring tokens, whose refresh tokens are valid only once', () => {
  const { refresh, token_parameters: sent, token_url: address, scope_separator: between } = shopify.oauth?.({}) ?? {};
  expect([refresh, sent, between]).toEqual(['rotating', { expiring: '1' }, ',']);
  expect(address).toBe('https://{shop}.myshopify.com/admin/oauth/access_token');
});
