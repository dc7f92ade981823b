import { isKnownEncoding, tlsFileFaults, tlsVerificationFaults } from '#sdk';
import { addressOf, driverOf, type ServerAddress, valuesOfUrl } from './address.ts';
import { apiFaults } from './api-faults.ts';
import { hostsIn, parseConnectionUrl } from './connection-url.ts';
import type { DbOptionFault } from './db-option-fault.ts';
import { engines, readsFiles, titlesOf } from './engines.ts';
import type { DriverName, QueryValues, SourceValues } from './options.ts';
import { settingFaults } from './session-settings.ts';
import { hasOtherEncoding } from './source-texts.ts';
import { tableFaults } from './table.ts';

/** Options that the URL replaces. */
const replacedByUrl = ['host', 'port', 'project', 'database', 'user', 'password'] as const;

/** Checks that the options can be combined. Doesn't need network access. */
export function faultsOf({ source, query }: { source: SourceValues; query?: QueryValues }): DbOptionFault[] {
  const driver = driverOf(source);
  return [
    ...urlFaults(source),
    ...(readsFiles(driver) ? fileFaults(source, driver) : serverFaults(source, driver)),
    ...textFaults(source, driver),
    ...(query === undefined ? [] : [...queryFaults(query, driver), ...parameterFaults(source, query)]),
  ];
}

function urlFaults({ url, driver, ...source }: SourceValues): DbOptionFault[] {
  if (url === undefined) return [];
  const parsed = parseConnectionUrl(url);
  if (typeof parsed === 'string') return [{ option: 'url', message: parsed }];
  // BigQuery's URLs have no server.
  const isProject = engines[parsed.driver].api?.urlHost === 'project';
  const replaced = isProject ? (['project', 'database'] as const) : replacedByUrl;
  const duplicates = replaced.filter((name) => source[name] !== undefined);
  const unusable = valuesOfUrl({ url }).faults.filter(({ isTlsMode }) => !isTlsMode || source.tls.mode === undefined);
  return [
    ...duplicates.map((option) => ({ option, message: 'is also in the URL; remove one of the two' })),
    ...(driver !== undefined && driver !== parsed.driver && !(isMysql(driver) && isMysql(parsed.driver))
      ? [{ option: 'driver', message: `is ${driver}, but the URL is for ${parsed.driver}` }]
      : []),
    ...unusable.map(({ message }) => ({ option: 'url', message })),
  ];
}

function isMysql(driver: DriverName): boolean {
  return driver === 'mysql' || driver === 'mariadb';
}

const serverOptions = [
  'url',
  ...replacedByUrl,
  'ssh',
  ...['target_session_attrs', 'passfile', 'service', 'service_file'],
] as const;

function fileFaults(source: SourceValues, driver: DriverName): DbOptionFault[] {
  const { title } = engines[driver];
  const inapplicable = serverOptions.filter((name) => source[name as keyof SourceValues] !== undefined);
  return [
    ...pathFaults(source, driver),
    ...inapplicable.map((option) => ({ option, message: `does not apply to ${title}; remove it` })),
    ...(Object.keys(source.tls).length === 0 || source.tls.mode === 'off'
      ? []
      : [{ option: 'tls', message: `does not apply to ${title}; remove it` }]),
    ...(source.transaction === 'none'
      ? [{ option: 'transaction', message: `does not apply to ${title}, which is always read-only; remove it` }]
      : []),
    ...settingFaults(source, driver).map((message) => ({ option: 'session', message })),
  ];
}

const fileTitles = () => titlesOf(({ isFile }) => isFile === true);

function pathFaults({ file, parquet }: SourceValues, driver: DriverName): DbOptionFault[] {
  const { title } = engines[driver];
  const hasParquet = Object.keys(parquet).length > 0;
  if (driver !== 'duckdb') {
    return [
      ...(file === undefined ? [{ option: 'file', message: `is missing; set it to the ${title} database file` }] : []),
      ...(hasParquet ? [{ option: 'parquet', message: 'is only for DuckDB' }] : []),
    ];
  }
  return file === undefined && !hasParquet
    ? [{ option: 'file', message: 'is missing; set it to the DuckDB database file, or set parquet to Parquet files' }]
    : [];
}

function serverFaults(source: SourceValues, driver: DriverName | undefined): DbOptionFault[] {
  const isNowhere = driver === undefined && source.url === undefined;
  return [
    ...(isNowhere ? [{ option: 'driver', message: 'is missing; set driver or url' }] : []),
    ...(source.file === undefined ? [] : [{ option: 'file', message: `is only for ${fileTitles()}` }]),
    ...(Object.keys(source.parquet).length === 0 ? [] : [{ option: 'parquet', message: 'is only for DuckDB' }]),
    ...hostFaults(source),
    ...settingFaults(source, driver).map((message) => ({ option: 'session', message })),
    ...postgresFaults(source, driver),
    ...apiFaults(source, driver),
    ...(driver === undefined ? [] : addressFaults(source, addressOf(source))),
  ];
}

function hostFaults({ host }: SourceValues): DbOptionFault[] {
  if (host === undefined || host === '') return [];
  if (host.startsWith('/')) {
    return host.includes(',/')
      ? [{ option: 'host', message: 'can have only one socket; use several hosts instead' }]
      : [];
  }
  const hosts = hostsIn(host);
  if (hosts === undefined) {
    return [{ option: 'host', message: 'has an invalid port; a port is a number from 1 to 65535' }];
  }
  return hosts.length === 0 ? [{ option: 'host', message: 'has no host between its commas' }] : [];
}

/** Options that only PostgreSQL has. */
function postgresFaults(source: SourceValues, driver: DriverName | undefined): DbOptionFault[] {
  const only = ['target_session_attrs', 'passfile', 'service', 'service_file'] as const;
  const inapplicable = driver === 'postgres' ? [] : only.filter((name) => source[name] !== undefined);
  const url = valuesOfUrl(source).values;
  const hasTwoTargets = source.target_session_attrs !== undefined && url.target !== undefined;
  const hasTwoPasswords = source.passfile !== undefined && (source.password ?? url.password) !== undefined;
  return [
    ...inapplicable.map((option) => ({ option, message: 'is only for PostgreSQL' })),
    ...(source.service !== undefined && source.url !== undefined
      ? [{ option: 'service', message: 'cannot be combined with url; remove one of the two' }]
      : []),
    ...(source.service === undefined && source.service_file !== undefined
      ? [{ option: 'service_file', message: 'requires service; set service to a section of the file' }]
      : []),
    ...(hasTwoTargets
      ? [{ option: 'target_session_attrs', message: 'is also in the URL; remove one of the two' }]
      : []),
    ...(hasTwoPasswords
      ? [{ option: 'passfile', message: 'cannot be combined with a password; remove one of the two' }]
      : []),
  ];
}

/**
 * Checks an address with everything that is known. The connection service isn't read yet when the options are checked,
 * and it may set what they lack.
 */
export function addressFaults(source: SourceValues, address: ServerAddress, isWhole = source.service === undefined) {
  const { title, api, hasOneHost } = engines[address.driver];
  return [
    ...(isWhole && api === undefined && address.user === undefined ? [userMissing(source)] : []),
    ...tlsFaults(source, address, isWhole),
    ...sshFaults(source, address),
    ...portFaults(source, address),
    ...(hasOneHost && address.servers.length > 1
      ? [{ option: source.url === undefined ? 'host' : 'url', message: `can have only one host for ${title}` }]
      : []),
  ];
}

/** As in libpq. Otherwise, it would be unclear which server has which port. */
function portFaults({ url }: SourceValues, { servers, portCount }: ServerAddress): DbOptionFault[] {
  if (portCount <= 1 || portCount === servers.length) return [];
  const message = `has ${portCount} ports for ${servers.length} hosts; set one port for all hosts, or one for each`;
  return [{ option: url === undefined ? 'host' : 'url', message }];
}

function userMissing({ url }: SourceValues): DbOptionFault {
  return url === undefined ? { option: 'user', message: 'is missing' } : { option: 'url', message: 'has no user' };
}

function tlsFaults(source: SourceValues, address: ServerAddress, isWhole: boolean): DbOptionFault[] {
  const { tls, driver, servers, hasChannelBinding } = address;
  const { mode = 'off', verify, ...files } = tls;
  // If the option turns TLS off, the files that the URL or the connection service names don't matter.
  const others = Object.keys(source.tls.mode === 'off' ? source.tls : tls).filter((name) => name !== 'mode');
  const isUnused = isWhole && mode === 'off' && others.length > 0;
  const isForSocket = driver === 'postgres' && servers.every(({ host }) => host.startsWith('/'));
  const messages = [
    ...(isForSocket && mode !== 'off' && source.tls.mode !== undefined
      ? ['does not apply to a Unix socket of PostgreSQL; remove it']
      : []),
    ...(isUnused ? ['is off, but other TLS options are set; set mode to verify'] : []),
    ...(mode === 'verify-ca' && driver === 'sqlserver'
      ? ['cannot have mode verify-ca for SQL Server; use verify']
      : []),
    ...(isWhole && mode === 'off' && hasChannelBinding ? ['is off, but channel_binding=require requires TLS'] : []),
    ...(mode === 'off' || !isWhole ? tlsFileFaults(files) : tlsVerificationFaults({ ...tls, mode })),
  ];
  return messages.map((message) => ({ option: 'tls', message }));
}

function sshFaults({ ssh }: SourceValues, { servers }: ServerAddress): DbOptionFault[] {
  if (ssh === undefined) return [];
  const isKeyless = ssh.password === undefined && ssh.private_key_file === undefined;
  const messages = [
    ...(isKeyless ? ['requires private_key_file or password'] : []),
    ...(ssh.passphrase !== undefined && ssh.private_key_file === undefined
      ? ['has a passphrase, but no private_key_file']
      : []),
    ...(servers.some(({ host }) => host.startsWith('/'))
      ? ['can tunnel to a host and port, but not to a Unix socket']
      : []),
    ...(servers.length > 1 ? ['can tunnel to only one host'] : []),
  ];
  return messages.map((message) => ({ option: 'ssh', message }));
}

function textFaults(source: SourceValues, driver: DriverName | undefined): DbOptionFault[] {
  const { encoding, bad_text } = source;
  const set = [...(encoding === undefined ? [] : ['encoding']), ...(bad_text === 'refuse' ? [] : ['bad_text'])];
  const isTheirs = driver === undefined || engines[driver].hasRawTexts === true;
  if (!isTheirs)
    return set.map((option) => ({
      option,
      message: `is only for ${titlesOf(({ hasRawTexts }) => hasRawTexts === true)}; other databases convert text`,
    }));
  return encoding === undefined || isKnownEncoding(encoding)
    ? []
    : [{ option: 'encoding', message: 'unknown encoding' }];
}

/** Parameters are sent as UTF-8. */
function parameterFaults(source: SourceValues, { parameters }: QueryValues): DbOptionFault[] {
  const isForeign = parameters.some((value) => !/^\p{ASCII}*$/u.test(String(value)));
  if (!isForeign || !hasOtherEncoding(source)) return [];
  const message =
    'must be ASCII, because the text in the database has another encoding; write the text in the query with the bytes that the database has';
  return [{ option: 'parameters', message }];
}

function queryFaults(query: QueryValues, driver: DriverName | undefined): DbOptionFault[] {
  const { cursor, lag, null_cursors: nulls, chunks } = query;
  const needsCursor = 'requires cursor; set cursor to a column';
  return [
    ...tableFaults(query, driver),
    ...columnFaults(query),
    ...(cursor === '' ? [{ option: 'cursor', message: 'is empty; set it to the name of a result column' }] : []),
    ...(cursor === undefined && lag !== undefined ? [{ option: 'lag', message: needsCursor }] : []),
    ...(cursor === undefined && nulls !== 'refuse' ? [{ option: 'null_cursors', message: needsCursor }] : []),
    ...(cursor !== undefined && chunks !== undefined
      ? [
          {
            option: 'chunks',
            message: 'cannot be combined with cursor, which reads only new rows; remove one of the two',
          },
        ]
      : []),
    ...(chunks !== undefined && chunks.column === undefined && query.table === undefined
      ? [{ option: 'chunks', message: 'requires a column; set column to the primary key, or use table' }]
      : []),
    ...(chunks !== undefined && readsFiles(driver)
      ? [
          {
            option: 'chunks',
            message: `does not apply to ${engines[driver].title}, which has no network connection; remove it`,
          },
        ]
      : []),
  ];
}

/** A column that orders the rows must be one of those that are read. */
function columnFaults({ columns, cursor, chunks }: QueryValues): DbOptionFault[] {
  if (columns.length === 0) return [];
  const named = [
    ['cursor', cursor ?? ''],
    ...[chunks?.column ?? []].flat().map((name) => ['chunks', name] as const),
  ] as const;
  return named.flatMap(([option, name]) =>
    name === '' || columns.includes(name)
      ? []
      : [{ option, message: `names ${JSON.stringify(name)}, which is not one of the columns; add it to columns` }],
  );
}
