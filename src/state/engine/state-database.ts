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
  /** The folder that contains the payloads and kept rows, on all machines. If absent, they're in the database. */
  readonly payloadsFolder?: string;
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

/** Where the state is. */
export interface StateLocation {
  /** Absolute path of the state folder, which contains the payloads, and the database unless it's on a server. */
  readonly state: string;
  /** The database on a server that contains the state. If absent, the database is a file in the state folder. */
  readonly stateDatabase?: StateDatabase;
}

/** The location of a state whose database is on a server. */
export interface ServerLocation extends StateLocation {
  readonly stateDatabase: StateDatabase;
}

export const defaultSchema = 'sluice';

/** Describes a state's database for users, such as `postgres://db.internal:5432/sluice`: no user and no password. */
export function databaseText({ host, port, database, schema }: StateDatabase): string {
  const address = host.includes(':') ? `[${host}]` : encodeURIComponent(host);
  const more = schema === defaultSchema ? '' : `?schema=${schema}`;
  return `postgres://${address}:${port}/${encodeURIComponent(database)}${more}`;
}

/** Describes for users where the state is: its folder, or its database's URL without credentials. */
export function stateText({ state, stateDatabase }: StateLocation): string {
  return stateDatabase === undefined ? state : databaseText(stateDatabase);
}
