import type { Format } from '../../formats/format.ts';
import type { ProblemOptions } from '../../lib/problem.ts';
import type { Reach } from '../../service/refresh/address-policy.ts';

/** What the process of a refresh is told to do: plain data, since it goes from one process to another. */
export interface RefreshOrder {
  readonly connector: string;
  readonly format: Format['id'];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly reach: Reach;
  /** A private, empty folder, the only one that may be written to. */
  readonly scratch: string;
  readonly limits: { readonly memoryBytes: number; readonly stallMs: number };
}

/** What comes back beside the bytes: that they are whole, or why not. */
export type RefreshOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly problem: Omit<ProblemOptions, 'where' | 'cause'> };

/** Where the document's bytes go: a pipe beside the three usual ones and that of the messages. */
export const bytesFd = 4;
