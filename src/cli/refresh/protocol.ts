import type { Format } from '../../formats/format.ts';
import type { ProblemOptions } from '../../lib/problem.ts';
import type { Reach } from '../../service/refresh/address-policy.ts';

/** The parent's order to a refresh process. It contains only plain data, because it's sent between processes. */
export interface RefreshOrder {
  readonly connector: string;
  readonly format: Format['id'];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly reach: Reach;
  /** Path of an empty private folder. The process can't write anywhere else. */
  readonly scratch: string;
  readonly limits: { readonly memoryBytes: number; readonly stallMs: number };
}

/**
 * The outcome of a refresh, which is sent separately from the document: the document is complete, or a problem says why
 * it isn't.
 */
export type RefreshOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly problem: Omit<ProblemOptions, 'where' | 'cause'> };

/**
 * File descriptor of the pipe that carries the document's content. It's separate from the standard streams and the
 * message channel.
 */
export const bytesFd = 4;
