/** What the reference page tells beside the options. */
export const reference = {
  columns:
    'All keys of all records of all pages, in order of first appearance; exactly those of `columns` where that is given.',
  resumes: 'With `conditional: true`, the watermark is what the last answer said of its state: ETag and Last-Modified.',
  limits: [
    'All pages are on disk before the first row goes on; together they may have `max_answer_bytes`.',
    'The pages end where the server says so; a place for the next page that is in no answer is an error.',
    'More than `max_pages` pages, a page that equals the one before and a next page that was read already are errors.',
    'Credentials go to the origin of the first request alone; a key that the server repeats in an address of another origin is taken out of it.',
    'Conditional requests are for answers of one page; whoever asks for several pages reads all of them.',
    'Requests that have to be signed are not possible.',
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
