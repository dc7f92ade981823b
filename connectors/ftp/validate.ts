import { afterDeliveryFaults, pathFaults, tlsVerificationFaults } from '#sdk';
import type { FtpQueryValues, FtpSourceValues } from './options.ts';

interface Fault {
  readonly option: string;
  readonly message: string;
}

const sftpOnly = ['private_key_file', 'passphrase', 'host_key'] as const;

/** Checks whether the options can be combined. Doesn't access the network. */
export function faultsOf(source: FtpSourceValues, query: FtpQueryValues | undefined): Fault[] {
  return [
    ...(source.protocol === 'sftp' ? sftpFaults(source) : ftpFaults(source)),
    ...(query === undefined ? [] : queryFaults(query)),
  ];
}

function sftpFaults(source: FtpSourceValues): Fault[] {
  const { user, password, private_key_file: key, passphrase, active } = source;
  return [
    ...(user === undefined ? [{ option: 'user', message: 'is missing; sftp has no anonymous login' }] : []),
    ...(password === undefined && key === undefined
      ? [{ option: 'password', message: 'is missing; set password or private_key_file' }]
      : []),
    ...(passphrase !== undefined && key === undefined
      ? [{ option: 'passphrase', message: 'requires a private key; set private_key_file' }]
      : []),
    ...(active === undefined ? [] : [{ option: 'active', message: 'does not apply to sftp; remove it' }]),
  ];
}

function ftpFaults(source: FtpSourceValues): Fault[] {
  const { protocol, user, password, tls, active } = source;
  const hasTlsOptions = Object.keys(tls).some((name) => name !== 'mode');
  return [
    ...sftpOnly
      .filter((name) => source[name] !== undefined)
      .map((option) => ({ option, message: `does not apply to ${protocol}; remove it` })),
    ...(user !== undefined && password === undefined
      ? [{ option: 'password', message: `is missing for ${user}` }]
      : []),
    ...(protocol === 'ftp' && hasTlsOptions
      ? [{ option: 'tls', message: 'requires protocol ftps or ftps_implicit' }]
      : []),
    ...tlsVerificationFaults(tls).map((message) => ({ option: 'tls', message })),
    ...((active?.last_port ?? 65_535) < (active?.first_port ?? 0)
      ? [{ option: 'active', message: 'has a last_port below its first_port' }]
      : []),
    ...(active?.last_port !== undefined && active.first_port === undefined
      ? [{ option: 'active', message: 'has a last_port, but no first_port' }]
      : []),
  ];
}

function queryFaults(query: FtpQueryValues): Fault[] {
  const { marker, path_column: name, modified_column: time, after_delivery: action } = query;
  return [
    ...pathFaults(query),
    ...afterDeliveryFaults(query),
    ...(action !== 'keep' && marker !== undefined && !/^\.|\{name\}/.test(marker)
      ? // The marker is deleted with its file, so no other file may need it: a.csv and a.xml have the same {stem}.
        [{ option: 'marker', message: 'must be an extension or contain {name} if `after_delivery` is set' }]
      : []),
    ...(marker === '' ? [{ option: 'marker', message: 'is empty' }] : []),
    ...(name !== undefined && name === time
      ? [{ option: 'modified_column', message: 'must differ from path_column' }]
      : []),
  ];
}
