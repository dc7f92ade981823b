/** How to log in to an SSH server, and which host keys to trust. */
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
  /** `legacy` also allows key exchange with SHA-1 and ciphers in CBC mode. */
  readonly algorithms?: 'modern' | 'legacy' | undefined;
  /** Base folder for relative paths. */
  readonly folder: string;
  readonly connectTimeoutSeconds: number;
  /** The connection is closed if the server is silent for this long. */
  readonly idleTimeoutSeconds: number;
  /** The server in readable form, for messages. */
  readonly place: string;
  /** Prefix of problem codes: `FTP` gives `FTP_HOST_KEY_UNKNOWN`. */
  readonly codes: string;
}
