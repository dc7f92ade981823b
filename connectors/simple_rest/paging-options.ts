import { option } from '#sdk';
import { closed, text } from './schemas.ts';

/** How to request the next page. */
export interface RestPaging {
  readonly kind: 'none' | 'page' | 'offset' | 'cursor' | 'next_link' | 'link_header';
  /**
   * Paths in the response, in this order: a value that is true if more pages follow, a value that is true on the last
   * page, the total number of records, and the total number of pages.
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
  readonly stop_at?: 'empty' | 'short';
  /** Path of the cursor in the response body. */
  readonly cursor?: string;
  /** Path of the next page's URL in the response body. */
  readonly path?: string;
}

/** The option `paging` of a query. */
export const paging = option.schema<RestPaging>(
  closed({
    kind: { enum: ['none', 'page', 'offset', 'cursor', 'next_link', 'link_header'] },
    parameter: { ...text, description: 'page, offset, cursor: query parameter for the page.' },
    first: { type: 'integer', description: 'page, offset: first value. Default: 1 for page, 0 for offset.' },
    size_parameter: { ...text, description: 'page, offset: query parameter for the page size.' },
    size: { type: 'integer', minimum: 1, description: 'page, offset: records per page.' },
    stop_at: {
      enum: ['empty', 'short'],
      default: 'empty',
      description:
        'page, offset: `short` also stops at a page with fewer than `size` records, which is wrong if the server caps the page size.',
    },
    cursor: { ...text, description: 'cursor: path of the cursor in the response.' },
    path: { ...text, description: 'next_link: path of the next URL in the response.' },
    more: { ...text, description: 'Path of a value in the response that is true while there are more pages.' },
    last: { ...text, description: 'Path of a value in the response that is true on the last page.' },
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
        'Path in the response with the total number of records. If fewer records are read, the run fails. With `{path, estimate: true}`, the number is not checked.',
    },
    pages: {
      ...text,
      description: 'Path in the response with the total number of pages. If fewer pages are read, the run fails.',
    },
    missing: {
      enum: ['end', 'error'],
      description:
        'cursor, next_link, link_header: what a missing next page means. `end`: the server omits it on the last page. `error`: every page has one. By default, it means the end only if something else in the response confirms that.',
    },
  }),
  {
    about:
      'How to request the next page. To put it in the body, path or a header, use `{{ page.number }}`, `{{ page.offset }}` or `{{ page.token }}` there.',
    example: { kind: 'cursor', cursor: 'meta.next', parameter: 'after' },
    default: { kind: 'none' },
  },
);
