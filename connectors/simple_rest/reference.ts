/** The reference page's content, except for the options. */
export const reference = {
  columns: 'All keys of all records of all pages, in order of first appearance; exactly `columns` if that is set.',
  resumes: 'With `conditional: true`, the watermark is the ETag and Last-Modified of the last response.',
  limits: [
    'All pages are spooled to disk before the first row is sent; their total size is limited by `max_answer_bytes`.',
    'Paging ends only if the server says so; if no response has the location of a next page, the run fails.',
    'The run fails if there are more than `max_pages` pages, if a page is repeated, or if the next page was already read.',
    'Credentials are sent only to the origin of the first request; a key that the server repeats in a URL of another origin is removed.',
    'Conditional requests work for single-page responses; with several pages, all pages are read.',
    'Signed requests are not supported.',
  ],
  example: `
sources:
  shop:
    connector: simple_rest
    url: https://api.example.com/v2
    auth: { kind: bearer, token: "\${env:SHOP_TOKEN}" }
jobs:
  orders:
    source: shop
    query:
      path: /orders?status=open
      records: data.items
      paging: { kind: cursor, cursor: meta.next, parameter: after }
`,
};
