import type { FormatId } from '../store/datasources.ts';
import type { Reach } from './address-policy.ts';

/** The data that a pull needs to refresh an instance. */
export interface PullRequest {
  /** The data source's connector, by its name in the service. */
  readonly connector: string;
  readonly format: FormatId;
  readonly properties: Readonly<Record<string, unknown>>;
  /**
   * The basis of the `addressPolicy`, which decides which IP addresses are allowed. The pull must check the address of
   * each connection.
   */
  readonly reach: Reach;
  /** Aborted when the service stops or the pull takes too long. */
  readonly signal: AbortSignal;
}

/**
 * Reads a data source through its connector and yields the document in the data source's format. The code that starts
 * the service passes this function in. Throws a Problem whose message is written for the user.
 */
export type Pull = (request: PullRequest) => AsyncIterable<Uint8Array>;
