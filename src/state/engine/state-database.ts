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
  /** The bucket that contains the payloads and kept rows instead. */
  readonly payloadsBucket?: PayloadsBucket;
  /** Undefined if the connection isn't encrypted. */
  readonly tls?: StateDatabaseTls;
}

/** A bucket of an S3-compatible object store. */
export interface PayloadsBucket {
  readonly bucket: string;
  /** The beginning of all objects' names. Empty, or ends with a slash. */
  readonly prefix: string;
  /** The store's address, without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  /** Whether the bucket's name is in the path of an object's URL, instead of in the host name. */
  readonly isPathStyle: boolean;
  /** If absent, the process uses the credentials that its environment or its machine provides. */
  readonly key?: BucketKey;
}

/** A fixed key for a bucket. */
export interface BucketKey {
  readonly accessKeyId: string;
  /** Registered as a secret by the code that reads it. */
  readonly secretAccessKey: string;
}

/**
 * How a connection to a state's database is encrypted. The server's certificate is always verified. Certificates and
 * keys are the texts of PEM files.
 */
export interface StateDatabaseTls {
  /** Whether the certificate must also be for the server's host name. */
  readonly verifyIdentity: boolean;
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

/** Describes a bucket for users, such as `s3://sluice/production`. */
export const bucketText = ({ bucket, prefix }: PayloadsBucket): string => `s3://${bucket}/${prefix}`.replace(/\/$/, '');

/** Describes for users where the payloads and kept rows of a state in a database are. */
export function payloadsText({ payloadsFolder, payloadsBucket }: StateDatabase): string {
  return payloadsBucket === undefined ? (payloadsFolder ?? 'postgres') : bucketText(payloadsBucket);
}

/** Describes for users where the state is: its folder, or its database's URL without credentials. */
export function stateText({ state, stateDatabase }: StateLocation): string {
  return stateDatabase === undefined ? state : databaseText(stateDatabase);
}
