import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { didYouMean } from '../../lib/nearest.ts';
import type { ProblemOptions } from '../../lib/problem.ts';
import { registerEncodedSecret, registerSecret } from '../../lib/redact.ts';
import { certificateChecks, sslModes } from '../../sdk/index.ts';
import { defaultSchema, type StateDatabase, type StateDatabaseTls } from '../../state/engine/state-database.ts';

const form = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';
const tlsModes = Object.keys(sslModes);
const fileParameters = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;
const parameterNames = ['sslmode', ...Object.keys(fileParameters), 'schema'];
const schemaPattern = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;

type StateUrlFault = Pick<ProblemOptions, 'message' | 'seen' | 'allowed' | 'next'>;

interface StateUrlOptions {
  /** The config's folder. Relative paths of certificates start here. */
  readonly folder: string;
  readonly report: (fault: StateUrlFault) => void;
  /** If true, certificates aren't read, because they may exist only on the daemon's machine. */
  readonly withoutSecrets?: boolean | undefined;
}

/**
 * Parses the URL of the database that contains the state, and reads its certificates. Registers the password and the
 * private key as secrets before it reports anything. Returns undefined if an error was reported.
 */
export function readStateUrl(text: string, options: StateUrlOptions): StateDatabase | undefined {
  const { folder, report, withoutSecrets } = options;
  registerCredentials(text);
  const url = parse(text);
  if (url === undefined) {
    report({ ...invalid(text), next: 'percent-encode special characters in the user and the password: / as %2F' });
    return undefined;
  }
  const faults = [...addressFaults(url, text), ...parameterFaults(url), ...tlsFaults(url)];
  const texts = withoutSecrets || faults.length > 0 ? {} : readFiles(url, folder, (fault) => faults.push(fault));
  for (const fault of faults) report(fault);
  if (faults.length > 0) return undefined;
  const { host, user, password, database } = partsOf(url);
  const tls = tlsOf(url, texts);
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    ...(password === '' ? {} : { password }),
    database,
    schema: url.searchParams.get('schema') ?? defaultSchema,
    ...(tls === undefined ? {} : { tls }),
  };
}

/** Registers the password, even if the text isn't a valid URL because the password isn't percent-encoded. */
function registerCredentials(text: string): void {
  const password = /^\w+:\/\/[^:]*:(.*)@/s.exec(text)?.[1];
  if (password !== undefined) registerEncodedSecret(password);
  const parameter = /[?&]password=([^&]*)/.exec(text)?.[1];
  if (parameter !== undefined) registerEncodedSecret(parameter);
}

/** Returns the URL if it's valid and its parts can be decoded. A fragment is the rest of an unencoded password. */
function parse(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.hash !== '') return undefined;
  try {
    partsOf(url);
    return url;
  } catch {
    return undefined;
  }
}

function partsOf({ hostname, username, password, pathname }: URL) {
  return {
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  };
}

/** Returns the error's value and what is allowed. Never shows credentials or parameters. */
function invalid(text: string): StateUrlFault {
  const isReadable = text.includes('@') || URL.parse(text) !== null;
  const shown = text.replace(/:\/\/.*@/s, '://…@').replace(/[?#].*$/s, (rest) => `${rest[0]}…`);
  return { message: 'Invalid state URL', ...(isReadable ? { seen: shown } : {}), allowed: form };
}

function addressFaults(url: URL, text: string): StateUrlFault[] {
  if (!/^postgres(ql)?:$/.test(url.protocol)) {
    const next = 'use a folder, or a PostgreSQL database';
    return [{ ...invalid(text), message: 'The state cannot be stored in this kind of database', next }];
  }
  const { host, user, database } = partsOf(url);
  const missing = Object.entries({ user, host, database }).flatMap(([name, part]) => (part === '' ? [name] : []));
  const socket = 'to use a Unix socket, percent-encode its folder: postgres://USER@%2Frun%2Fpostgresql/DATABASE';
  return [
    ...missing.map((name) => ({
      ...invalid(text),
      message: `Invalid state URL: it has no ${name}`,
      ...(name === 'host' ? { next: socket } : {}),
    })),
    ...(host.includes(',')
      ? [
          {
            ...invalid(text),
            message: 'Invalid state URL: it has several hosts',
            next: 'use an address that always leads to the primary server',
          },
        ]
      : []),
  ];
}

function parameterFaults({ searchParams }: URL): StateUrlFault[] {
  const names = [...searchParams.keys()];
  const mode = searchParams.get('sslmode');
  const schema = searchParams.get('schema');
  return [
    ...names
      .filter((name) => !parameterNames.includes(name))
      .map((name) => ({
        message: `Unknown parameter "${name}" in the state URL`,
        allowed: parameterNames.join(', '),
        next: didYouMean(name, parameterNames),
      })),
    ...names
      .filter((name, i) => names.indexOf(name) !== i)
      .map((name) => ({ message: `The state URL sets "${name}" more than once`, next: 'remove all but one' })),
    ...(mode !== null && !tlsModes.includes(mode)
      ? [wrongValue('sslmode', mode, { allowed: tlsModes.join(', '), next: didYouMean(mode, tlsModes) })]
      : []),
    ...(schema !== null && !schemaPattern.test(schema)
      ? [
          wrongValue('schema', schema, {
            allowed: 'lowercase letters, digits and _, at most 63, not starting with pg_',
          }),
        ]
      : []),
  ];
}

function wrongValue(name: string, value: string, more: Pick<StateUrlFault, 'allowed' | 'next'>): StateUrlFault {
  return { message: `Invalid value for "${name}" in the state URL`, seen: JSON.stringify(value), ...more };
}

/** By default, connections are encrypted and verified, unless they don't leave this machine. */
function modeOf(url: URL): string {
  const { host } = partsOf(url);
  const isLocal =
    host.startsWith('/') || host === 'localhost' || host === '::1' || (isIP(host) === 4 && /^127\./.test(host));
  return url.searchParams.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
}

function tlsFaults(url: URL): StateUrlFault[] {
  const mode = modeOf(url);
  const has = (name: string): boolean => url.searchParams.has(name);
  const files = Object.keys(fileParameters).filter(has);
  if (mode !== 'disable' && partsOf(url).host.startsWith('/')) {
    return [{ message: 'Connections to a Unix socket cannot be encrypted', next: 'remove sslmode from the state URL' }];
  }
  if (mode === 'disable' && files.length > 0) {
    const next = 'set sslmode=verify-full in the state URL, or remove the files';
    return [{ message: `${files.join(', ')} has no effect, because the connection is not encrypted`, next }];
  }
  return [
    ...(mode === 'verify-ca' && authorityOf(url) === undefined
      ? [
          {
            message: 'The state URL has sslmode=verify-ca, but no file in sslrootcert',
            next: 'set sslrootcert to the file with the certificate of the authority, or use sslmode=verify-full',
          },
        ]
      : []),
    ...(has('sslcert') !== has('sslkey')
      ? [{ message: 'The state URL needs both sslcert and sslkey', next: 'add the other one, or remove this one' }]
      : []),
  ];
}

/** The file with the authority to trust; undefined if the system's are trusted. */
function authorityOf({ searchParams }: URL): string | undefined {
  const path = searchParams.get('sslrootcert');
  return path === null || path === 'system' ? undefined : path;
}

type TlsTexts = Omit<StateDatabaseTls, 'verifyIdentity'>;

/** The modes mean the same as in connectors. */
function tlsOf(url: URL, texts: TlsTexts): StateDatabaseTls | undefined {
  const mode = sslModes[modeOf(url) as keyof typeof sslModes];
  if (mode === 'off') return undefined;
  const authority = authorityOf(url);
  const { verifyIdentity } = certificateChecks({ mode, ...(authority === undefined ? {} : { ca_file: authority }) });
  return { verifyIdentity, ...texts };
}

function readFiles(url: URL, folder: string, report: StateUrlOptions['report']): TlsTexts {
  const entries = Object.entries(fileParameters).flatMap(([name, as]): [string, string][] => {
    const path = as === 'ca' ? authorityOf(url) : (url.searchParams.get(name) ?? undefined);
    const text = path === undefined ? undefined : readPem(name, resolve(folder, path), report);
    if (text !== undefined && as === 'key') registerSecret(text);
    return text === undefined ? [] : [[as, text]];
  });
  return Object.fromEntries(entries);
}

function readPem(name: string, path: string, report: StateUrlOptions['report']): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    report({
      message: `Cannot read the file in "${name}" of the state URL: ${(error as NodeJS.ErrnoException).code}`,
      seen: path,
      next: "fix the path, which is relative to the config's folder, or the file's permissions",
    });
    return undefined;
  }
}
