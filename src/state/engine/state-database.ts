/** A PostgreSQL database that holds a state, in a schema of its own. Several states can share a database. */
export interface StateDatabase {
  /** A host name, an IP address, or the absolute path of the folder that contains the server's Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Registered as a secret by the code that reads it. Undefined if the server doesn't ask for a password. */
  readonly password?: string;
  readonly database: string;
  /** The schema that contains the tables. It's created if it doesn't exist. */
  readonly schema: string;
  /** Undefined if the connection isn't encrypted. */
  readonly tls?: StateDatabaseTls;
}

/** How a connection to a state's database is encrypted. Certificates and keys are the texts of PEM files. */
export interface StateDatabaseTls {
  /** Whether the server's certificate and host name are verified. */
  readonly isVerified: boolean;
  /** The authorities to trust instead of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export const defaultSchema = 'sluice';

/** Describes a state's database for users, such as `postgres://db.internal:5432/sluice`: no user and no password. */
export function databaseText({ host, port, database, schema }: StateDatabase): string {
  const address = host.includes(':') ? `[${host}]` : encodeURIComponent(host);
  const more = schema === defaultSchema ? '' : `?schema=${schema}`;
  return `postgres://${address}:${port}/${encodeURIComponent(database)}${more}`;
}
