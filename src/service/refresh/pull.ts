import type { FormatId } from '../store/datasources.ts';
import type { Reach } from './address-policy.ts';

/** What the service asks for when an instance is to be refreshed. */
export interface PullRequest {
  /** One of the service's connector names. */
  readonly connector: string;
  readonly format: FormatId;
  /** The instance's properties. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Which IP addresses may be connected to (`addressPolicy`); the pull must apply it to every connection. */
  readonly reach: Reach;
  /** Aborted when the service ends or the pull takes too long. */
  readonly signal: AbortSignal;
}

/**
 * Reads a data source with its own connector and yields the document in its format. Passed in by the code that
 * starts the service. Throws a Problem with a message for the user.
 */
export type Pull = (request: PullRequest) => AsyncIterable<Uint8Array>;
