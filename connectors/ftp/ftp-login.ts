import { type Client, FTPError } from 'basic-ftp';
import { greetingOf, Problem } from '#sdk';
import type { FtpSourceValues } from './options.ts';
import { placeOf, portOf } from './place.ts';
import {
  accountWanted,
  busy,
  connectTimeout,
  isFull,
  loginRefused,
  notConnected,
  otherProtocol,
  refused,
  tlsRefused,
  tlsRequired,
} from './problems.ts';

/** Connects, starts TLS if it's configured, and logs in. All of this must finish within the connect timeout. */
export async function logIn(source: FtpSourceValues, client: Client, secureOptions: object | undefined): Promise<void> {
  const asked: Asked = { hasPassword: false };
  refusePlainData(client, placeOf(source));
  try {
    await inTime(source, client, login(source, client, { secureOptions, asked }));
  } catch (error) {
    throw error instanceof Problem ? error : connectProblem(source, client, { error, asked });
  }
}

/** What the client had sent when the server refused the login. */
interface Asked {
  hasPassword: boolean;
}

async function login(
  source: FtpSourceValues,
  client: Client,
  { secureOptions, asked }: { secureOptions: object | undefined; asked: Asked },
): Promise<void> {
  // Does the same as the client library's login, but step by step, because only a reply to PASS is about the password.
  client.login = async (user, password) => {
    let answer = await client.send(`USER ${user}`);
    if (answer.code === 331) {
      asked.hasPassword = source.password !== undefined;
      answer = await client.send(`PASS ${password}`);
    }
    if (answer.code === 332 && source.account !== undefined) answer = await client.send(`ACCT ${source.account}`);
    if (answer.code === 332) throw new FTPError(answer);
    return answer;
  };
  await client.access({
    host: source.host,
    port: portOf(source),
    user: source.user ?? 'anonymous',
    password: source.password ?? 'guest',
    secure: { ftp: false, ftps: true, ftps_implicit: 'implicit' as const, sftp: false }[source.protocol],
    secureOptions,
  });
}

async function inTime(source: FtpSourceValues, client: Client, work: Promise<void>): Promise<void> {
  const seconds = source.connect_timeout_seconds;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client.close();
  }, seconds * 1000);
  try {
    await work;
  } catch (error) {
    throw isLate ? await late(source) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The library waits for an FTP reply and ignores all other data. */
async function late(source: FtpSourceValues): Promise<Problem> {
  const greeting = await greetingOf({ host: source.host, port: portOf(source) });
  if (greeting?.startsWith('SSH-')) return otherProtocol(placeOf(source), { seen: greeting, protocol: 'sftp' });
  return connectTimeout(placeOf(source), source.connect_timeout_seconds);
}

/**
 * If the server refuses to encrypt data connections, the library ignores the refusal and then fails at the first data
 * connection.
 */
function refusePlainData(client: Client, place: string): void {
  const send = client.sendIgnoringError.bind(client);
  client.sendIgnoringError = async (command) => {
    const answer = await send(command);
    if (command === 'PROT P' && answer.code >= 400) throw tlsRefused(place, answer.message, new FTPError(answer));
    return answer;
  };
}

/**
 * Unless the reply's text shows otherwise, replies 332, 530 and 532 are about the account, and 4xx replies are
 * transient (RFC 959). Before TLS starts, no reply is about the account.
 */
function connectProblem(
  source: FtpSourceValues,
  client: Client,
  { error, asked }: { error: unknown; asked: Asked },
): Problem {
  const place = placeOf(source);
  if (!(error instanceof FTPError)) return notConnected(error, place);
  if (error.code === 332 || error.code === 532) return accountWanted(place, error.message);
  if (source.protocol === 'ftp' && wantsTls.test(error.message)) return tlsRequired(place, error.message);
  if (error.code < 500 || isFull(error.message)) return busy(place, error.message);
  if (source.protocol === 'ftps' && !client.ftp.hasTLS) return tlsRefused(place, error.message, error);
  if (error.code !== 530) return refused(place, error.message);
  return loginRefused(place, source.user ?? 'anonymous', { seen: error.message, isLoginRefused: asked.hasPassword });
}

/** The reply code depends on the server: 534 (RFC 4217, 10), 530, 550, 503 or 421. */
const wantsTls = /\b(?:TLS|SSL|AUTH first)\b|encrypt|cleartext/i;
