import { type TlsFiles, tlsFileSchemas, tlsModes, tlsVerifySchema } from '#sdk';

/** How to use TLS with the server. */
export interface DbTlsOptions extends TlsFiles {
  /** Undefined if neither the option nor the URL sets it; TLS is then off. */
  readonly mode?: 'off' | 'require' | 'verify-ca' | 'verify';
  /** False if any certificate is accepted. */
  readonly verify?: boolean;
}

export const tlsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    mode: {
      enum: ['off', 'require', 'verify-ca', 'verify'],
      description: `Default: the URL’s mode, or off. ${tlsModes}`,
    },
    verify: tlsVerifySchema,
    ...tlsFileSchemas,
  },
};

/** The login for the SSH server through which the database is reached. */
export interface SshOptions {
  readonly host: string;
  readonly port?: number;
  readonly user: string;
  readonly password?: string;
  readonly private_key_file?: string;
  readonly passphrase?: string;
  readonly host_key?: string;
  readonly known_hosts_file?: string;
}

export const sshSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['host', 'user'],
  properties: {
    host: { type: 'string', minLength: 1, description: 'Host name or address of the SSH server.' },
    port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'Port of the SSH server. Default: 22.' },
    user: { type: 'string', minLength: 1, description: 'User name on the SSH server.' },
    password: { type: 'string', writeOnly: true, description: 'Password of the SSH user, if there is no private key.' },
    private_key_file: { type: 'string', description: 'Private key file.' },
    passphrase: { type: 'string', writeOnly: true, description: 'Passphrase of the private key.' },
    host_key: {
      type: 'string',
      pattern: '^SHA256:[A-Za-z0-9+/]{43}=?$',
      description: 'Fingerprint of the host key to trust. Takes precedence over known_hosts_file.',
    },
    known_hosts_file: {
      type: 'string',
      description: 'File with trusted host keys. Default: ~/.ssh/known_hosts.',
    },
  },
};
