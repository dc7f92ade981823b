import type { Asked, Reply } from './vendor.ts';

export const api = '/admin/api/2026-07';

/** Accepts the token only in the vendor's own header. */
export function shopGuard(...good: readonly string[]) {
  return ({ headers }: Pick<Asked, 'headers'>): Reply | undefined =>
    good.includes(String(headers['x-shopify-access-token']))
      ? undefined
      : { status: 401, json: { errors: '[API] Invalid API key or access token' } };
}

/** The rate limit bucket in every GraphQL response, which is different each time. */
export function cost(available: number) {
  return { cost: { throttleStatus: { maximumAvailable: 2000, currentlyAvailable: available, restoreRate: 100 } } };
}

/** An error in a successful response. */
export function graphError(code: string, message = 'no'): Reply {
  return { json: { errors: [{ message, extensions: { code } }], extensions: cost(1500) } };
}

let asked = 0;

/** The page of a list that starts after `after`; cursors are numbers. */
export function listed(nodes: readonly object[], { body }: Pick<Asked, 'body'>, perPage = 2): Reply {
  const from = Number(body.variables.after ?? 0);
  const to = Math.min(from + perPage, nodes.length);
  const pageInfo = { hasNextPage: to < nodes.length, endCursor: to > from ? String(to) : null };
  return {
    json: { data: { list: { nodes: nodes.slice(from, to), pageInfo } }, extensions: cost(1000 + (asked++ % 999)) },
  };
}

const set = (amount: string) => ({ shopMoney: { amount } });

/** An order as GraphQL returns it. */
export function order(id: number, updatedAt: string, more: object = {}) {
  return {
    legacyResourceId: String(id),
    name: `#${id}`,
    createdAt: '2026-01-01T09:00:00Z',
    processedAt: '2026-01-01T09:00:00Z',
    updatedAt,
    cancelledAt: null,
    currencyCode: 'EUR',
    test: false,
    displayFinancialStatus: 'PAID',
    displayFulfillmentStatus: 'FULFILLED',
    customer: { legacyResourceId: '9007199254740993' },
    subtotalPriceSet: set('100.00'),
    totalDiscountsSet: set('0.0'),
    totalShippingPriceSet: set('4.90'),
    totalTaxSet: set('16.75'),
    totalPriceSet: set('99999999999999999.90'),
    totalRefundedSet: set('0.0'),
    ...more,
  };
}

export function orderRow(id: number, updatedAt: string) {
  return [
    String(id),
    `#${id}`,
    '2026-01-01T09:00:00Z',
    '2026-01-01T09:00:00Z',
    updatedAt,
    null,
    'PAID',
    'FULFILLED',
    '9007199254740993',
    'EUR',
    '100.00',
    '0.0',
    '4.90',
    '16.75',
    '99999999999999999.90',
    '0.0',
    'false',
  ];
}

export const orderColumns = [
  'id integer',
  'name text',
  'created_at timestamptz',
  'processed_at timestamptz',
  'updated_at timestamptz',
  'cancelled_at timestamptz',
  'financial_status text',
  'fulfillment_status text',
  'customer_id integer',
  'currency text',
  'subtotal decimal',
  'discounts decimal',
  'shipping decimal',
  'tax decimal',
  'total decimal',
  'refunded decimal',
  'test boolean',
];
