import type { Format } from '../../formats/format.ts';
import type { ProblemOptions } from '../../lib/problem.ts';
import type { Reach } from '../../service/refresh/address-policy.ts';

/** The order for a refresh process. It's plain data, because it's sent to another process. */
export interface RefreshOrder {
  readonly connector: string;
  readonly format: Format['id'];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly reach: Reach;
  /** A private folder that is empty, and the only one that the process can write to. */
  readonly scratch: string;
  readonly limits: { readonly memoryBytes: number; readonly stallMs: number };
}

/** The result of a refresh, in addition to its bytes: it's complete, or the reason why it isn't. */
export type RefreshOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly problem: Omit<ProblemOptions, 'where' | 'cause'> };

/** File descriptor for the document's bytes: a pipe besides the standard streams and the message channel. */
export const bytesFd = 4;
