import { Type } from 'typebox';

/** Query parameters of every list: `offset` and `limit` (1 to 100). */
export const pageQuery = {
  offset: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'index of the first item',
  }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'maximum number of items' }),
};

/** Query parameter of lists whose items have an ID chosen by the client. */
export const byExternalId = {
  external_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'return only items with this `external_id`' }),
  ),
};

/** The requested part of a list. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** The items of one page, and the total number of items. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Takes one page from a list that fits in memory. */
export function pageOf<T>(all: readonly T[], { offset, limit }: Page): Listed<T> {
  return { items: all.slice(offset, offset + limit), total: all.length };
}

/** Creates the response that contains one page of a list under `key`. */
export function listResult<T>(
  key: string,
  { items, total }: Listed<T>,
  describe: (item: T) => unknown = (item) => item,
): { data: object; meta: { count: number; total: number } } {
  return { data: { [key]: items.map((item) => describe(item)) }, meta: { count: items.length, total } };
}
