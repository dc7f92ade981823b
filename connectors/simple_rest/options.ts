import { type OptionValues, option, recordOptions } from '#sdk';
import { answers } from './answers.ts';
import { auth } from './auth.ts';
import { forEachOptions } from './for-each-options.ts';
import { incrementalOptions } from './incremental-options.ts';
import { pageColumnsOptions } from './page-columns-options.ts';
import { paging } from './paging-options.ts';
import { pathsOptions } from './paths-options.ts';
import { report } from './report-options.ts';
import { parameterList, type RequestParameter } from './request-parameter.ts';
import { text } from './schemas.ts';

/** The value of a form field. */
export type FormValue = string | number | boolean | null;

/**
 * The response reports an error if there is a value at this path. With `is`, the response reports an error only if the
 * value equals `is`.
 */
export type FailWhen = string | { readonly path: string; readonly is: string | number | boolean };

/** A period, and the size of the steps in which Sluice reads it. */
export interface RestWindow {
  readonly start?: string;
  readonly end?: string;
  readonly step?: string;
  readonly bound?: 'inside' | 'outside';
}

const formValue = { type: ['string', 'number', 'boolean', 'null'] };

export const source = {
  url: option.text({
    about: 'Base URL; the paths of queries are appended to it.',
    example: 'https://api.example.com/v2',
    pattern: '^https?://',
  }),
  auth,
  headers: option.map<string>(text, {
    about: 'Headers sent with every request.',
    example: { 'accept-language': 'en' },
    secret: true,
  }),
  timeout_seconds: option.number({
    about: 'Timeout for connecting, for the first byte of a response, and between any two bytes.',
    default: 30,
    minimum: 0.1,
  }),
  answer_seconds: option.number({
    about: 'Timeout for a whole response.',
    default: 600,
    minimum: 0.1,
  }),
  retries: option.integer({
    about:
      'How often a request is retried within a run after a temporary error (429, 408, 425, 5xx except 501 and 505), a lost connection or a truncated response.',
    default: 4,
    minimum: 0,
    maximum: 20,
  }),
  ca_file: option.text({
    about: 'PEM file with the certificate of the authority that signed the server’s certificate.',
    example: 'ca.pem',
  }),
  requests_per_second: option.number({
    about:
      'Maximum number of requests per second; fractions are allowed: 0.2 is one request every five seconds. All jobs of a process that read this source share the limit. Several processes don’t share it. Default: no limit.',
    example: 2,
    minimum: 0.001,
    maximum: 1000,
  }),
  max_answer_bytes: option.integer({
    about: 'Maximum uncompressed size of all pages in a run, in bytes; if there is more, the run fails.',
    default: 1_073_741_824,
    minimum: 1,
  }),
  other_origins: option.list<string>(
    { type: 'string', pattern: '^https?://' },
    {
      about: 'Other origins that redirects and next links may point to. Credentials are never sent to them.',
      example: ['https://cdn.example.com'],
    },
  ),
};

export const query = {
  path: option.text({ about: 'Path of the request, appended to the base URL.', example: '/orders?status=open' }),
  ...pathsOptions,
  ...forEachOptions,
  endpoint_url: option.text({
    about: 'Full URL of the request; use it instead of `path`.',
    example: 'https://api.example.com/v2/orders',
    pattern: '^(?:https?://|\\{\\{)',
  }),
  window: option.schema<RestWindow | undefined>(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        start: {
          ...text,
          description:
            'First day or time to request: a date or a template. Required without `cursor`; with it, `window` starts at `{{ since }}`.',
        },
        end: { ...text, description: 'Last day or time to include. Default: today; with `cursor`, now.' },
        step: { ...text, pattern: '^\\d+(mo|[hdwy])$', description: 'Length of each requested period: 7d, 1mo.' },
        bound: {
          enum: ['inside', 'outside'],
          description:
            'If periods are days: whether `window.to` and `until` are the last day of the period (inside), or the day after it (outside). Default: inside; with `cursor`, outside.',
        },
      },
    },
    {
      about:
        'Request the data period by period; use `{{ window.from }}` and `{{ window.to }}` in the request or, with `cursor`, `{{ since }}` and `{{ until }}`.',
      example: { start: '{{ month_start - 3mo }}', step: '1mo' },
    },
  ),
  ...incrementalOptions,
  header_columns: option.map<string>(text, {
    about: 'Response headers to add as the first columns, by column name.',
    example: { version: 'x-data-version' },
  }),
  ...pageColumnsOptions,
  conditional: option.boolean({
    about:
      'Use conditional requests (ETag, Last-Modified). If the server reports no change, the run ends as unchanged. Works only with single-page responses.',
    default: false,
  }),
  method: option.text({ about: 'HTTP method, in upper or lower case.', default: 'GET', pattern: '^[A-Za-z]+$' }),
  parameters: option.schema<string | readonly RequestParameter[]>(
    {
      anyOf: [{ type: 'string' }, parameterList],
    },
    {
      about:
        'List of {name, value, type}, or the same list as a JSON string. Type `header` sets a request header, any other type sets a query parameter.',
      example: [{ name: 'since', value: '2026-01-01', type: 'query' }],
      default: [],
    },
  ),
  body: option.schema<unknown>(
    { type: ['string', 'object', 'array'] },
    {
      about: 'Body of the request: text is sent as is, anything else as JSON.',
      example: { query: '{ orders { id } }' },
    },
  ),
  form: option.schema<Readonly<Record<string, FormValue | readonly FormValue[]>> | undefined>(
    {
      type: 'object',
      additionalProperties: { anyOf: [formValue, { type: 'array', items: formValue }] },
    },
    {
      about:
        'Body of the request as form fields (application/x-www-form-urlencoded), instead of `body`. A list repeats the field; a field without a value is omitted.',
      example: { since: '{{ today - 7d }}', status: ['open', 'paid'] },
    },
  ),
  paging,
  fail_when: option.schema<readonly FailWhen[] | undefined>(
    {
      type: 'array',
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            additionalProperties: false,
            required: ['path', 'is'],
            properties: { path: text, is: { type: ['string', 'number', 'boolean'] } },
          },
        ],
      },
    },
    {
      about:
        'Places in the response that mark it as an error if they have a value (not null, false or empty), or `{path, is}` for a specific value. Default: `errors` for GraphQL (a body with `query`), and SOAP faults in xml. Places in the body work only with json and xml.',
      example: ['error', { path: 'status', is: 'error' }],
    },
  ),
  answers,
  report,
  resume: option.boolean({
    about:
      'If the run is retried, continue after the pages that the failed attempt has read instead of requesting them again. Not with paging by page or offset, because records may move to other pages meanwhile.',
    default: false,
  }),
  null_records: option.choice(['error', 'empty'], {
    about:
      'Whether null instead of the list at `records` (json), or a first response without the element (xml), means an error or an empty page.',
    default: 'error',
  }),
  max_pages: option.integer({
    about: 'Maximum number of pages. If there are more, the run fails, so that an incomplete result is never sent.',
    default: 1000,
    minimum: 1,
  }),
  ...recordOptions,
};

export type RestSource = OptionValues<typeof source>;
export type RestQuery = OptionValues<typeof query>;
