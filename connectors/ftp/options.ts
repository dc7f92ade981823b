import { changedFilesOptions, fileOptions, type OptionValues, option, type TlsFiles, tlsFileSchemas } from '#sdk';

export const protocols = ['sftp', 'ftps', 'ftps_implicit', 'ftp'] as const;

/** TLS towards the server. `verify` checks certificate and name; `require` encrypts and checks nothing. */
export interface FtpTlsOptions extends TlsFiles {
  readonly mode: 'verify' | 'require';
}

const tlsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['mode'],
  properties: {
    mode: {
      enum: ['verify', 'require'],
      description: 'verify checks certificate and name of the server; require encrypts but believes any server.',
    },
    ...tlsFileSchemas,
  },
};

/** Active mode: the server connects to us, so it must be told where we are. */
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
      description: 'The address that the server is told; our end of the control connection when absent.',
    },
    first_port: { ...port, description: 'First port to listen on; any free one when absent.' },
    last_port: { ...port, description: 'Last port to listen on.' },
  },
};

export const source = {
  protocol: option.choice(protocols, {
    required: true,
    about: 'sftp over SSH; ftps with TLS after the greeting, or from the first byte (ftps_implicit); ftp without any.',
    example: 'sftp',
  }),
  host: option.text({ required: true, about: 'Name or address of the server.', example: 'files.example.com' }),
  port: option.integer({
    minimum: 1,
    maximum: 65_535,
    example: 2222,
    about: 'Port of the server; 22 for sftp, 990 for ftps_implicit and 21 for the others when left out.',
  }),
  user: option.text({ about: 'Who we are there; `anonymous` when left out.', example: 'reader' }),
  password: option.text({ about: 'The password of that user.', example: `\${env:FTP_PASSWORD}`, secret: true }),
  private_key_file: option.text({
    about: 'sftp: file of the private key to log in with, in OpenSSH or PEM form.',
    example: 'id_ed25519',
  }),
  passphrase: option.text({
    about: 'sftp: what unlocks the private key.',
    example: `\${env:KEY_PASSPHRASE}`,
    secret: true,
  }),
  host_key: option.text({
    about: 'sftp: fingerprint of the one host key that is believed. Wins over `known_hosts_file`.',
    pattern: '^SHA256:[A-Za-z0-9+/]{43}=?$',
    example: 'SHA256:rJEBgc5wcMYTbUnB0Bw3dQtwOtCvmG2q9Q1Xh1h1h1g',
  }),
  known_hosts_file: option.text({
    about: 'sftp: file with the host keys that are believed, as OpenSSH writes it.',
    default: '~/.ssh/known_hosts',
    example: 'known_hosts',
  }),
  algorithms: option.choice(['modern', 'legacy'], {
    default: 'modern',
    about: 'sftp: `legacy` also allows what old servers have: key exchange with SHA-1, and ciphers in CBC mode.',
  }),
  account: option.text({
    about: 'ftp and ftps: the account that few servers ask for beside user and password (ACCT).',
    example: 'sales',
  }),
  tls: option.schema<FtpTlsOptions>(tlsSchema, {
    about: 'ftps: whom to believe.',
    default: { mode: 'verify' },
    example: { mode: 'verify', ca_file: 'ca.pem' },
  }),
  active: option.schema<ActiveOptions | undefined>(activeSchema, {
    about: 'ftp and ftps: let the server open the data connections. They are opened from here when absent.',
    example: { first_port: 50_000, last_port: 50_100 },
  }),
  name_encoding: option.choice(['utf8', 'latin1'], {
    default: 'utf8',
    about: 'ftp and ftps: encoding of the names of files.',
  }),
  folder: option.text({
    about: 'Folder on the server that the paths of the queries are meant from. The one after login when absent.',
    example: '/exports',
  }),
  connect_timeout_seconds: option.number({
    minimum: 0.1,
    default: 15,
    about: 'How long connecting and logging in may take.',
  }),
  idle_timeout_seconds: option.number({
    minimum: 0.1,
    default: 60,
    about: 'How long the server may be silent when it is its turn, also in the middle of a file.',
  }),
};

export const query = {
  path: option.text({
    required: true,
    about: 'Path of the file, or a glob for several files of the same columns, over folders too (`**`).',
    example: '2026/**/orders-*.csv.gz',
  }),
  ...changedFilesOptions,
  settle_seconds: option.number({
    minimum: 0,
    default: 3,
    about: 'How long size and time of a file must stay the same before it is taken to be complete; 0 does not wait.',
  }),
  marker: option.text({
    about:
      'A file is complete when this one stands beside it: an ending (.done is orders.csv.done), a pattern with {stem} or {name}, or a name.',
    example: '.done',
  }),
  ...fileOptions,
};

export type FtpSourceValues = OptionValues<typeof source>;
export type FtpQueryValues = OptionValues<typeof query>;
