import { Type } from 'typebox';

/** The query of every list: `offset` and `limit` (1 to 100). */
export const pageQuery = {
  offset: Type.Integer({ minimum: 0, default: 0, description: 'index of the first item' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'items at most' }),
};

/** Which part of a list is asked for. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Items of one page and how many there are in all. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Cuts a page out of a list that is short enough to be held whole. */
export function pageOf<T>(all: readonly T[], { offset, limit }: Page): Listed<T> {
  return { items: all.slice(offset, offset + limit), total: all.length };
}

/** What the envelope of a list says of it. */
export function listMeta(listed: Listed<unknown>): { count: number; total: number } {
  return { count: listed.items.length, total: listed.total };
}
