/** The content of the reference page, except for the options. */
export const reference = {
  columns:
    'The keys of the records on all pages, in order of first appearance. If `columns` is set, exactly those columns.',
  resumes:
    'With `cursor`, the watermark is the highest value in that column. With `conditional: true`, it is the ETag and Last-Modified of the last response.',
  limits: [
    'All pages are spooled to disk before the first row is sent; their total size is limited by `max_answer_bytes`.',
    'Paging ends only if the server says which page is the last one; if no response says where the next page is, the run fails.',
    'The run fails if there are more than `max_pages` pages, if a page is repeated, or if the next page was already read.',
    'Credentials are sent only to the origin of the first request; if the server repeats a key in a URL with another origin, Sluice removes the key.',
    'Conditional requests work for single-page responses; with several pages, all pages are read.',
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
