import { type ColumnData, defineService, type Fields, type Moment, option, type Scope, type StreamData } from '#sdk';

const graph = '/graphql.json';
const money = (name: string) => `${name} { shopMoney { amount } }`;
const amount = (name: string) => ({ type: 'decimal', at: `${name}.shopMoney.amount` }) as const;

const filter = option.text({
  about: 'Search filter in Shopify’s syntax.',
  example: 'financial_status:paid',
});
const pageSize = option.integer({
  about: 'Records per request. Larger requests use more of the shop’s rate limit.',
  default: 50,
  minimum: 1,
  maximum: 250,
});

const orderFields = `legacyResourceId name createdAt processedAt updatedAt cancelledAt currencyCode test
  displayFinancialStatus displayFulfillmentStatus customer { legacyResourceId }
  ${['subtotalPriceSet', 'totalDiscountsSet', 'totalShippingPriceSet', 'totalTaxSet', 'totalPriceSet', 'totalRefundedSet'].map(money).join(' ')}`;

const orderColumns = {
  id: { type: 'integer', at: 'legacyResourceId' },
  name: 'text',
  created_at: { type: 'timestamptz', at: 'createdAt' },
  processed_at: { type: 'timestamptz', at: 'processedAt' },
  updated_at: { type: 'timestamptz', at: 'updatedAt' },
  cancelled_at: { type: 'timestamptz', at: 'cancelledAt' },
  financial_status: { type: 'text', at: 'displayFinancialStatus' },
  fulfillment_status: { type: 'text', at: 'displayFulfillmentStatus' },
  customer_id: { type: 'integer', at: 'customer.legacyResourceId' },
  currency: { type: 'text', at: 'currencyCode' },
  subtotal: amount('subtotalPriceSet'),
  discounts: amount('totalDiscountsSet'),
  shipping: amount('totalShippingPriceSet'),
  tax: amount('totalTaxSet'),
  total: amount('totalPriceSet'),
  refunded: amount('totalRefundedSet'),
  test: 'boolean',
} as const satisfies Record<string, ColumnData | ColumnData['type']>;

const changed = { column: 'updated_at', key: 'legacyResourceId', settles: '10m' } as const;

/**
 * Shopify Admin API: GraphQL, and the older REST API for order lines. Confirmed: addresses, the token header, paging in
 * both APIs, the rate-limit bucket, error responses with status code 200, and bulk operations. The field names are
 * unconfirmed general knowledge.
 */
export default defineService({
  id: 'shopify',
  title: 'Shopify',
  summary: 'Reads a Shopify shop’s orders, order lines, customers, and product variants with stock and price.',
  options: {
    shop: option.text({
      about: 'Name of the shop: the part before .myshopify.com in its URL.',
      required: true,
      example: 'acme-toys',
      pattern: '^[a-z0-9][a-z0-9-]*$',
    }),
    token: option.text({
      about: 'Access token of a custom app in the shop; replaces `login`.',
      secret: true,
      example: `$\{env:SHOPIFY_TOKEN}`,
    }),
  },
  version: '2026-07',
  base: 'https://{{ shop }}.myshopify.com/admin/api/{{ api_version }}',
  login: [
    { when: 'token', kind: 'key', headers: { 'x-shopify-access-token': '{{ token }}' } },
    {
      kind: 'oauth',
      headers: { 'x-shopify-access-token': '{{ login.token }}' },
      oauth: {
        grants: ['authorization_code', 'client_credentials'],
        authorize_url: 'https://{shop}.myshopify.com/admin/oauth/authorize',
        token_url: 'https://{shop}.myshopify.com/admin/oauth/access_token',
        token_request: 'json',
        scopes: ['read_orders', 'read_products', 'read_customers'],
        scope_separator: ',',
        // Requests tokens that expire after an hour. Each token comes with a new refresh token. Public apps must use
        // such tokens.
        token_parameters: { expiring: '1' },
        refresh: 'rotating',
      },
    },
  ],
  streams: {
    orders: {
      ...connection('orders', { fields: orderFields, sort: 'UPDATED_AT' }),
      about: 'Orders with their totals, by time of last change.',
      incremental: changed,
      columns: orderColumns,
    },
    bulk_orders: {
      about: 'Like `orders`, but read with a bulk operation. Use it for shops with many orders.',
      options: { filter },
      job: {
        create: {
          path: graph,
          json: {
            query:
              'mutation Bulk($query: String!) { bulkOperationRunQuery(query: $query) { bulkOperation { id } userErrors { code message } } }',
            variables: {
              query: (scope: Scope) =>
                `{ orders(query: ${JSON.stringify(searchOf(scope) ?? '')}) { edges { node { id ${orderFields} } } } }`,
            },
          },
        },
        keep: { id: 'data.bulkOperationRunQuery.bulkOperation.id' },
        poll: {
          path: graph,
          json: {
            query: 'query Bulk($id: ID!) { node(id: $id) { ... on BulkOperation { status errorCode url } } }',
            variables: { id: '{{ job.id }}' },
          },
        },
        state: 'data.node.status',
        done: ['COMPLETED'],
        failed: ['FAILED', 'CANCELED', 'EXPIRED'],
        result: { url: 'data.node.url' },
        needs: 'url',
        patience: '4h',
      },
      request: { path: '{{ job.url }}', bare: true },
      decode: 'jsonl',
      records: '',
      incremental: changed,
      columns: orderColumns,
    },
    order_lines: {
      about: 'Order lines: one row for each line of each order.',
      request: {
        path: '/orders.json',
        query: {
          status: 'any',
          limit: 250,
          order: 'updated_at asc',
          updated_at_min: '{{ since | iso }}',
          fields: 'id,name,created_at,updated_at,cancelled_at,currency,financial_status,line_items',
        },
      },
      records: 'orders',
      each: ({ line_items: lines, ...order }) => ((lines ?? []) as Fields[]).map((line) => ({ ...line, order })),
      // The URL of the next page is complete and must be requested without additional parameters. The last page only
      // links to the previous page.
      paging: { by: 'link', missing: 'single' },
      incremental: { column: 'updated_at', key: 'id', settles: '10m' },
      columns: {
        id: 'integer',
        order_id: { type: 'integer', at: 'order.id' },
        order_name: { type: 'text', at: 'order.name' },
        created_at: { type: 'timestamptz', at: 'order.created_at' },
        updated_at: { type: 'timestamptz', at: 'order.updated_at' },
        cancelled_at: { type: 'timestamptz', at: 'order.cancelled_at' },
        financial_status: { type: 'text', at: 'order.financial_status' },
        product_id: 'integer',
        variant_id: 'integer',
        sku: 'text',
        title: 'text',
        vendor: 'text',
        quantity: 'integer',
        currency: { type: 'text', at: 'order.currency' },
        price: 'decimal',
        discount: { type: 'decimal', at: 'total_discount' },
      },
    },
    customers: {
      ...connection('customers', {
        fields: 'legacyResourceId createdAt updatedAt state numberOfOrders amountSpent { amount currencyCode }',
        sort: 'UPDATED_AT',
      }),
      about: 'Customers with their total purchases.',
      incremental: changed,
      columns: {
        id: { type: 'integer', at: 'legacyResourceId' },
        created_at: { type: 'timestamptz', at: 'createdAt' },
        updated_at: { type: 'timestamptz', at: 'updatedAt' },
        state: 'text',
        orders: { type: 'integer', at: 'numberOfOrders' },
        spent: { type: 'decimal', at: 'amountSpent.amount' },
        currency: { type: 'text', at: 'amountSpent.currencyCode' },
      },
    },
    variants: {
      ...connection('productVariants', {
        fields:
          'legacyResourceId sku title price inventoryQuantity updatedAt product { legacyResourceId title vendor productType status }',
        sort: 'ID',
      }),
      about: 'The variants of all products, with price and stock.',
      columns: {
        id: { type: 'integer', at: 'legacyResourceId' },
        sku: 'text',
        title: 'text',
        price: 'decimal',
        stock: { type: 'integer', at: 'inventoryQuantity' },
        updated_at: { type: 'timestamptz', at: 'updatedAt' },
        product_id: { type: 'integer', at: 'product.legacyResourceId' },
        product: { type: 'text', at: 'product.title' },
        vendor: { type: 'text', at: 'product.vendor' },
        product_type: { type: 'text', at: 'product.productType' },
        status: { type: 'text', at: 'product.status' },
      },
    },
  },
  errors: [
    { status: 404, verdict: 'config', message: 'has no such shop or version', next: 'check `shop` and `api_version`' },
    { status: 402, verdict: 'permission', message: 'has frozen this shop because of unpaid bills' },
    // GraphQL returns all of these errors with status code 200.
    { body: { 'errors.*.extensions.code': 'THROTTLED' }, verdict: 'wait', wait: '1s' },
    { body: { 'errors.*.extensions.code': 'INTERNAL_SERVER_ERROR' }, verdict: 'wait' },
    {
      body: { 'errors.*.extensions.code': 'ACCESS_DENIED' },
      verdict: 'permission',
      next: 'give the app the scopes that the response names (read_orders, read_products, read_customers), then log in again',
    },
    {
      body: { 'errors.*.extensions.code': 'MAX_COST_EXCEEDED' },
      verdict: 'config',
      message: 'does not allow such a costly request',
      next: 'lower `page_size`',
    },
    { body: { 'errors.*.message': true }, verdict: 'config', next: 'check `filter` and `api_version`' },
    { body: { 'data.*.userErrors.*.code': 'OPERATION_IN_PROGRESS' }, verdict: 'wait', wait: '30s' },
    { body: { 'data.*.userErrors.*.message': true }, verdict: 'config', next: 'check `filter`' },
  ],
  budget: {
    gauges: [
      { at: { header: 'x-shopify-shop-api-call-limit' }, means: 'used/limit', threshold: 0.9, pause: '2s' },
      { at: 'extensions.cost.throttleStatus.currentlyAvailable', means: 'left', threshold: 500, pause: '2s' },
    ],
  },
  check: {
    request: { path: graph, json: { query: '{ shop { name currencyCode } }' } },
    message: 'shop {{ answer.data.shop.name }}, currency {{ answer.data.shop.currencyCode }}',
  },
  limits: [
    'Amounts are in the shop’s currency. Order line amounts exclude or include taxes, depending on the shop’s settings.',
    'Without the read_all_orders scope, a shop returns only the orders of the last 60 days.',
    'Order lines are read with the older REST API, which new public apps cannot use. Lines that were removed from an order are still included.',
    'Concurrent bulk operations in one shop wait for each other. An incremental run also rereads changes from the ten minutes before the last run.',
    'Shopify’s documentation does not confirm the cost of a request, or whether it returns orders of any status if `filter` does not set one.',
  ],
  example: `sources:
  shop:
    connector: shopify
    shop: acme-toys
    token: "\${env:SHOPIFY_TOKEN}"
jobs:
  orders:
    source: shop
    query: { stream: orders, filter: "financial_status:paid" }
`,
});

/** One of the shop's lists, read page by page in an order that stays stable when records change. */
function connection(
  name: string,
  { fields, sort }: { fields: string; sort: string },
): Pick<StreamData, 'options' | 'request' | 'records' | 'paging'> {
  const query = `query List($first: Int!, $after: String, $query: String) {
  list: ${name}(first: $first, after: $after, query: $query, sortKey: ${sort}) {
    nodes { ${fields} }
    pageInfo { hasNextPage endCursor }
  }
}`;
  return {
    options: { filter, page_size: pageSize },
    request: {
      path: graph,
      json: { query, variables: { first: '{{ page_size }}', after: '{{ page.token }}', query: searchOf } },
    },
    records: 'data.list.nodes',
    paging: { by: 'token', at: 'data.list.pageInfo.endCursor', more: 'data.list.pageInfo.hasNextPage' },
  };
}

/** The search query: records changed since the last run that also match the user's filter. */
function searchOf({ since, filter: wanted }: Scope): string | undefined {
  const terms = [
    ...(since === undefined ? [] : [`updated_at:>='${(since as Moment).text('iso')}'`]),
    ...(wanted === undefined ? [] : [`(${wanted})`]),
  ];
  return terms.length === 0 ? undefined : terms.join(' AND ');
}
