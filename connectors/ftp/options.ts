import {
  afterDeliveryOptions,
  changedFilesOptions,
  fileOptions,
  minAgeOption,
  type OptionValues,
  option,
  pathOptions,
  type TlsVerification,
  tlsFileSchemas,
  tlsModes,
  tlsVerifySchema,
} from '#sdk';

export const protocols = ['sftp', 'ftps', 'ftps_implicit', 'ftp'] as const;

const tlsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['mode'],
  properties: {
    mode: { enum: ['require', 'verify-ca', 'verify'], description: tlsModes },
    verify: tlsVerifySchema,
    ...tlsFileSchemas,
  },
};

/** Active mode: the server connects to this machine, so it needs this machine's address. */
export interface ActiveOptions {
  readonly address?: string;
  readonly first_port?: number;
  readonly last_port?: number;
}

const port = { type: 'integer', minimum: 1, maximum: 65_535 };

const activeSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    address: {
      type: 'string',
      description: 'Address to announce to the server. Default: the local address of the control connection.',
    },
    first_port: { ...port, description: 'First port to listen on. Default: any free port.' },
    last_port: { ...port, description: 'Last port to listen on.' },
  },
};

export const source = {
  protocol: option.choice(protocols, {
    required: true,
    about:
      '`sftp` runs over SSH. `ftps` switches to TLS after the greeting; `ftps_implicit` uses TLS from the first byte. `ftp` is unencrypted.',
    example: 'sftp',
  }),
  host: option.text({ required: true, about: 'Host name or address of the server.', example: 'files.example.com' }),
  port: option.integer({
    minimum: 1,
    maximum: 65_535,
    example: 2222,
    about: 'Port of the server. Default: 22 for sftp, 990 for ftps_implicit, otherwise 21.',
  }),
  user: option.text({ about: 'User name. Default: `anonymous`.', example: 'reader' }),
  password: option.text({ about: 'Password of the user.', example: `\${env:FTP_PASSWORD}`, secret: true }),
  private_key_file: option.text({
    about: 'sftp: private key file in OpenSSH or PEM format.',
    example: 'id_ed25519',
  }),
  passphrase: option.text({
    about: 'sftp: passphrase of the private key.',
    example: `\${env:KEY_PASSPHRASE}`,
    secret: true,
  }),
  host_key: option.text({
    about: 'sftp: fingerprint of the host key to trust. Takes precedence over `known_hosts_file`.',
    pattern: '^SHA256:[A-Za-z0-9+/]{43}=?$',
    example: 'SHA256:rJEBgc5wcMYTbUnB0Bw3dQtwOtCvmG2q9Q1Xh1h1h1g',
  }),
  known_hosts_file: option.text({
    about: 'sftp: file with trusted host keys in OpenSSH format.',
    default: '~/.ssh/known_hosts',
    example: 'known_hosts',
  }),
  algorithms: option.choice(['modern', 'legacy'], {
    default: 'modern',
    about: 'sftp: `legacy` also allows the algorithms that old servers need: SHA-1 key exchange and CBC ciphers.',
  }),
  account: option.text({
    about: 'ftp and ftps: account (ACCT), which a few servers require in addition to user and password.',
    example: 'sales',
  }),
  tls: option.schema<TlsVerification>(tlsSchema, {
    about: 'ftps: certificate checks.',
    default: { mode: 'verify' },
    example: { mode: 'verify', ca_file: 'ca.pem' },
  }),
  active: option.schema<ActiveOptions | undefined>(activeSchema, {
    about: 'ftp and ftps: use active mode, in which the server opens the data connections. Default: passive mode.',
    example: { first_port: 50_000, last_port: 50_100 },
  }),
  name_encoding: option.choice(['utf8', 'latin1'], {
    default: 'utf8',
    about: 'ftp and ftps: encoding of file names.',
  }),
  folder: option.text({
    about:
      'Folder on the server that query paths are relative to. Default: the folder that the server selects at login.',
    example: '/exports',
  }),
  connect_timeout_seconds: option.number({
    minimum: 0.1,
    default: 15,
    about: 'Timeout for connecting and logging in.',
  }),
  idle_timeout_seconds: option.number({
    minimum: 0.1,
    default: 60,
    about: 'Stall timeout: maximum time without data from the server, even in the middle of a file.',
  }),
};

export const query = {
  ...pathOptions,
  ...changedFilesOptions,
  ...afterDeliveryOptions,
  settle_seconds: option.number({
    minimum: 0,
    default: 3,
    about:
      "How long a file's size and modification time must stay unchanged before the file counts as complete; 0 disables the wait.",
  }),
  ...minAgeOption,
  marker: option.text({
    about:
      'Marker file that must exist next to a file before the file counts as complete: an extension (with .done, orders.csv is complete when orders.csv.done exists), a pattern with {stem} or {name}, or a file name.',
    example: '.done',
  }),
  ...fileOptions,
};

export type FtpSourceValues = OptionValues<typeof source>;
export type FtpQueryValues = OptionValues<typeof query>;
