/** How to log in on an SSH server, and whom to believe there. */
export interface SshLogin {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string | undefined;
  readonly private_key_file?: string | undefined;
  readonly passphrase?: string | undefined;
  /** Fingerprint of the only trusted host key; takes precedence over the file. */
  readonly host_key?: string | undefined;
  readonly known_hosts_file: string;
  /** `legacy` also allows SHA-1 in the key exchange and ciphers in CBC mode. */
  readonly algorithms?: 'modern' | 'legacy' | undefined;
  /** Relative paths are meant from here. */
  readonly folder: string;
  readonly connectTimeoutSeconds: number;
  /** So long a server may be silent before the connection is given up. */
  readonly idleTimeoutSeconds: number;
  /** The server as people write it, for messages. */
  readonly place: string;
  /** What the codes of problems begin with: `FTP` makes `FTP_HOST_KEY_UNKNOWN`. */
  readonly codes: string;
}
