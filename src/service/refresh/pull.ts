import type { FormatId } from '../store/datasources.ts';
import type { Reach } from './address-policy.ts';

/** A request to refresh an instance. */
export interface PullRequest {
  /** One of the service's connector names. */
  readonly connector: string;
  readonly format: FormatId;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Which IP addresses are allowed (`addressPolicy`). The pull must check each connection. */
  readonly reach: Reach;
  /** Aborted when the service stops or the pull times out. */
  readonly signal: AbortSignal;
}

/**
 * Reads a data source with its own connector and yields the document in its format. Injected by the code that starts
 * the service. Throws a Problem with a message for the user.
 */
export type Pull = (request: PullRequest) => AsyncIterable<Uint8Array>;
