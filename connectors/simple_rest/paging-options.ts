import { option } from '#sdk';
import { parameterList, type RequestParameter } from './request-parameter.ts';
import { closed, text } from './schemas.ts';

/** A sign that there are no more pages: a page without records, a page that isn't full, or a status. */
export type StopSign = 'empty' | 'short' | number;

/** The request for all pages except the first. */
export interface RestNextRequest {
  readonly path?: string;
  readonly endpoint_url?: string;
  readonly method?: string;
  readonly parameters?: readonly RequestParameter[];
  readonly body?: unknown;
}

/** How to request the next page. */
export interface RestPaging {
  readonly kind: 'none' | 'page' | 'offset' | 'cursor' | 'next_link' | 'link_header';
  /**
   * Places of values in the response, in this order: a value that is true if more pages follow, a value that is true on
   * the last page, the total number of records, and the total number of pages.
   */
  readonly more?: string;
  readonly last?: string;
  readonly total?: string | { readonly path: string; readonly estimate?: boolean };
  readonly pages?: string;
  /** `end` if the server omits `cursor`, `path` or the Link header on the last page. */
  readonly missing?: 'end' | 'error';
  readonly parameter?: string;
  readonly first?: number;
  readonly size_parameter?: string;
  readonly size?: number;
  readonly stop_at?: StopSign | readonly StopSign[];
  /** Place of the cursor. */
  readonly cursor?: string;
  /** Place of the next page's URL. */
  readonly path?: string;
  readonly next_request?: RestNextRequest;
}

const stopSign = { anyOf: [{ enum: ['empty', 'short'] }, { type: 'integer', minimum: 400, maximum: 499 }] };

/** The option `paging` of a query. */
export const paging = option.schema<RestPaging>(
  closed({
    kind: { enum: ['none', 'page', 'offset', 'cursor', 'next_link', 'link_header'] },
    parameter: { ...text, description: 'page, offset, cursor: query parameter for the page.' },
    first: { type: 'integer', description: 'page, offset: first value. Default: 1 for page, 0 for offset.' },
    size_parameter: { ...text, description: 'page, offset: query parameter for the page size.' },
    size: { type: 'integer', minimum: 1, description: 'page, offset: records per page.' },
    stop_at: {
      anyOf: [...stopSign.anyOf, { type: 'array', items: stopSign, minItems: 1 }],
      description:
        'What else ends paging, or a list of such signs. `empty`: a page without records, even if it has a cursor or link (page and offset always end there). `short`: a page with fewer than `size` records (page, offset), which is wrong if the server caps the page size. A status such as 404: the response to a request for a page after the last one.',
    },
    cursor: {
      ...text,
      description: 'cursor: place of the cursor, such as `meta.next`, `header(X-Next)` or `last_record().id`.',
    },
    path: { ...text, description: "next_link: place of the next URL, such as `links[?@.rel=='next'].href`." },
    more: { ...text, description: 'Place of a value in the response that is true while there are more pages.' },
    last: { ...text, description: 'Place of a value in the response that is true on the last page.' },
    total: {
      anyOf: [
        text,
        {
          type: 'object',
          additionalProperties: false,
          required: ['path'],
          properties: { path: text, estimate: { type: 'boolean', default: false } },
        },
      ],
      description:
        'Place of the total number of records. If fewer records are read, the run fails. With `{path, estimate: true}`, the number is not checked.',
    },
    pages: {
      ...text,
      description: 'Place of the total number of pages. If fewer pages are read, the run fails.',
    },
    missing: {
      enum: ['end', 'error'],
      description:
        'cursor, next_link, link_header: what a missing next page means. `end`: the server omits it on the last page. `error`: every page has one. By default, it means the end only if something else in the response confirms that.',
    },
    next_request: {
      type: 'object',
      additionalProperties: false,
      description:
        'cursor: the request for all pages except the first (`path` or `endpoint_url`, `method`, `parameters`, `body`), if it differs.',
      properties: {
        path: text,
        endpoint_url: { ...text, pattern: '^https?://' },
        method: { ...text, pattern: '^[A-Za-z]+$', default: 'GET' },
        parameters: parameterList,
        body: { type: ['string', 'object', 'array'] },
      },
    },
  }),
  {
    about:
      'How to request the next page. To put it in the body, path or a header, use `{{ page.number }}`, `{{ page.offset }}` or `{{ page.token }}` there.',
    example: { kind: 'cursor', cursor: 'meta.next', parameter: 'after' },
    default: { kind: 'none' },
  },
);
