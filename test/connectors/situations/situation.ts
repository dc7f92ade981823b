import type { Stage } from './stage.ts';

/**
 * What people meet, and what Sluice says: the code with its family, words of the message (or of `seen`), and words of
 * the advice. Situations of PgBouncer, of hot standbys and of MySQL 8 are in test/real, and those of SSH tunnels in
 * db-ssh.test.ts.
 */
export type Situation = readonly [
  situation: string,
  act: (at: Stage) => Promise<unknown>,
  code: string,
  message: RegExp,
  next: RegExp,
];

/** Verifies the server's certificate with the authority in this file of the stage. */
export const verify = (ca: string) => ({ tls: { mode: 'verify', ca_file: ca } });

export const notFound = /host name not found|DNS lookup failed/;
