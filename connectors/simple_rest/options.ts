import { type OptionValues, option, recordOptions } from '#sdk';

/** How we show who we are. */
export interface Auth {
  readonly kind: 'none' | 'basic' | 'bearer' | 'key';
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Name of the header or query parameter that carries the key. */
  readonly name?: string;
  readonly value?: string;
  readonly in?: 'header' | 'query';
}

/** One of the service document's parameters: `header` goes into a request header, any other type into the query. */
export interface Parameter {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly type?: string;
}

/** How one page leads to the next. */
export interface Paging {
  readonly kind: 'none' | 'page' | 'offset' | 'cursor' | 'next_link' | 'link_header';
  readonly parameter?: string;
  readonly first?: number;
  readonly size_parameter?: string;
  readonly size?: number;
  readonly stop_at?: 'empty' | 'short';
  /** Path of the cursor in the answer. */
  readonly cursor?: string;
  /** Path of the next page's address in the answer. */
  readonly path?: string;
}

const text = { type: 'string' };
const secret = { type: 'string', writeOnly: true };

const closed = (properties: object) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind'],
  properties,
});

export const source = {
  url: option.text({
    about: 'Base address; the paths of the queries are put behind it.',
    example: 'https://api.example.com/v2',
    pattern: '^https?://',
  }),
  auth: option.schema<Auth>(
    closed({
      kind: { enum: ['none', 'basic', 'bearer', 'key'] },
      user: text,
      password: secret,
      token: secret,
      name: text,
      value: secret,
      in: { enum: ['header', 'query'], default: 'header' },
    }),
    {
      about:
        'Credentials: `basic` has user and password, `bearer` a token, `key` the name and value of a header or query parameter.',
      example: { kind: 'bearer', token: `\${env:API_TOKEN}` },
      default: { kind: 'none' },
      secret: true,
    },
  ),
  headers: option.map<string>(text, {
    about: 'Headers sent with every request.',
    example: { 'accept-language': 'en' },
    secret: true,
  }),
  timeout_seconds: option.number({
    about: 'Longest wait for a connection, for the first byte of an answer and between two of its bytes.',
    default: 30,
    minimum: 0.1,
  }),
  answer_seconds: option.number({
    about: 'Longest time that one answer may take as a whole.',
    default: 600,
    minimum: 0.1,
  }),
  retries: option.integer({
    about: 'How often a request is repeated after 429, 500, 502, 503, 504, a lost connection or a cut answer.',
    default: 4,
    minimum: 0,
    maximum: 20,
  }),
  ca_file: option.text({ about: 'PEM file of the authority that signed the server’s certificate.', example: 'ca.pem' }),
  max_answer_bytes: option.integer({
    about: 'Most bytes of all pages of one run together, unpacked; more is an error.',
    default: 1_073_741_824,
    minimum: 1,
  }),
  other_origins: option.list<string>(
    { type: 'string', pattern: '^https?://' },
    {
      about: 'Other origins that redirects and next links may lead to. They never get the credentials.',
      example: ['https://cdn.example.com'],
    },
  ),
};

export const query = {
  path: option.text({ about: 'What to ask for, behind the base address.', example: '/orders?status=open' }),
  endpoint_url: option.text({
    about: 'The full address instead of a path.',
    example: 'https://api.example.com/v2/orders',
    pattern: '^https?://',
  }),
  method: option.text({ about: 'HTTP method, in upper or lower case.', default: 'GET', pattern: '^[A-Za-z]+$' }),
  parameters: option.schema<string | readonly Parameter[]>(
    {
      anyOf: [
        { type: 'string' },
        {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['name', 'value'],
            properties: { name: text, value: { type: ['string', 'number', 'boolean', 'null'] }, type: text },
          },
        },
      ],
    },
    {
      about:
        'List of {name, value, type}, or the same as JSON text. Type `header` is a request header, any other a query parameter.',
      example: [{ name: 'since', value: '2026-01-01', type: 'query' }],
      default: [],
    },
  ),
  body: option.schema<unknown>(
    { type: ['string', 'object', 'array'] },
    { about: 'Body of the request: text as it is, anything else as JSON.', example: { query: '{ orders { id } }' } },
  ),
  paging: option.schema<Paging>(
    closed({
      kind: { enum: ['none', 'page', 'offset', 'cursor', 'next_link', 'link_header'] },
      parameter: { ...text, description: 'page, offset, cursor: query parameter that asks for the page.' },
      first: { type: 'integer', description: 'page, offset: where to begin; 1 and 0 when absent.' },
      size_parameter: { ...text, description: 'page, offset: query parameter that asks for the size.' },
      size: { type: 'integer', minimum: 1, description: 'page, offset: records asked for.' },
      stop_at: {
        enum: ['empty', 'short'],
        default: 'empty',
        description:
          'page, offset: `short` also stops at fewer than `size` records; wrong where the server caps the size.',
      },
      cursor: { ...text, description: 'cursor: path of the cursor in the answer.' },
      path: { ...text, description: 'next_link: path of the next address in the answer.' },
    }),
    {
      about: 'How one page leads to the next.',
      example: { kind: 'cursor', cursor: 'meta.next', parameter: 'after' },
      default: { kind: 'none' },
    },
  ),
  max_pages: option.integer({
    about: 'More pages than this are an error, so that a part never passes for the whole.',
    default: 1000,
    minimum: 1,
  }),
  ...recordOptions,
};

export type RestSource = OptionValues<typeof source>;
export type RestQuery = OptionValues<typeof query>;
