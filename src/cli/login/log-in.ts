import { spawn } from 'node:child_process';
import type { Config, Login } from '../../config/config.ts';
import { LoginBreaker } from '../../daemon/login-holds/login-breaker.ts';
import { systemClock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { authorize } from '../../oauth/authorize.ts';
import { Consent } from '../../oauth/consent.ts';
import { DeviceConsent } from '../../oauth/device-consent.ts';
import { isLocal, Listener } from '../../oauth/listener.ts';
import type { LoginRegistry, RegisteredLogin } from '../../oauth/login-registry.ts';
import type { TokenClient } from '../../oauth/token-client.ts';
import type { TokenResponse } from '../../oauth/token-response.ts';
import type { Store } from '../../state/store.ts';
import type { LoginRow } from '../../state/tables.ts';
import { instantText } from '../output/format.ts';
import { printable } from '../output/table.ts';
import { ask } from './ask.ts';
import type { LoginSource } from './find-login.ts';

export interface LogInOptions {
  readonly source: LoginSource;
  readonly book: LoginRegistry;
  readonly store: Store;
  readonly config: Config;
  readonly signal: AbortSignal;
  /** Whether the user pastes the redirect URL, because this machine has no browser. */
  readonly paste: boolean;
  /** Whether to show a code to enter on another device, because this machine has no browser. */
  readonly code: boolean;
  readonly browser: boolean;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Logs in with the configured grant and prints the result. */
export async function logIn(given: LogInOptions): Promise<void> {
  const { source, book, store, config } = given;
  const { login } = source;
  const entry = book.entry(source)!;
  if (login.grant === 'authorization_code') await authorize(entry, { login, store, ask: () => consent(given, entry) });
  else await authorize(entry, { login, store, ask: () => entry.tokenClient.grantAlone() });
  // The login works again, so end its hold now instead of waiting for the next attempt.
  await new LoginBreaker({ store, clock: store.clock, emit: () => undefined, ...config }).accepted(source);
  const row = (await store.logins.find(login.name))!;
  const sharing = [...config.sources.values()].filter((one) => one.login?.name === login.name).map(({ name }) => name);
  say(`Logged in${row.who === null ? '' : ` as ${printable(row.who)}`}, for ${sharing.join(', ')}.`);
  say(untilText(row, { login, renews: await entry.tokenStore.renews() }));
}

async function consent(given: LogInOptions, { tokenClient }: RegisteredLogin) {
  const { source, signal } = given;
  const { login } = source;
  if (given.code || login.description.authorize_url === undefined)
    return byCode({ source, vendor: tokenClient, say, signal });
  if (given.paste || !isLocal(login.redirectUri)) return byPaste(given, { tokenClient });
  const listener = await Listener.open(login.redirectUri);
  try {
    const consent = await Consent.begin(login, listener.redirectUri);
    say(`Open this URL and grant access:\n\n  ${consent.url}\n`);
    const opened = given.browser && (await openBrowser(consent.url));
    if (given.browser && !opened) say(elsewhere(source));
    say(
      `${opened ? 'Your browser was opened. ' : ''}Waiting for the redirect to ${listener.redirectUri} (Ctrl-C to cancel) …`,
    );
    const redeem = (address: URL) => (consent.knows(address) ? consent.redeem(address, tokenClient) : undefined);
    return await listener.wait(redeem, signal);
  } finally {
    listener.close();
  }
}

/** The hint for users of a remote machine: the redirect works only in a browser on the machine that runs Sluice. */
function elsewhere({ name, login }: LoginSource): string {
  const ways = login.description.device === undefined ? ['--paste'] : ['--paste', '--code'];
  const commands = ways.map((way) => `"sluice login ${name} ${way}"`).join(' or ');
  return `The browser must be on this machine. If it is on another one, stop this command and use ${commands}.\n`;
}

async function byPaste({ source, signal }: LogInOptions, { tokenClient }: Pick<RegisteredLogin, 'tokenClient'>) {
  const { redirectUri } = source.login;
  const consent = await Consent.begin(source.login, redirectUri);
  say(`Open this URL in any browser and grant access:\n\n  ${consent.url}\n`);
  say(`You are then redirected to ${redirectUri}. It does not matter if that page fails to load.`);
  const pasted = await ask('Paste the full URL from the address bar here: ', signal);
  return consent.redeem(consent.read(pasted), tokenClient);
}

/** Describes how long a login stays valid. */
function untilText({ expires_at }: Pick<LoginRow, 'expires_at'>, given: { login: Login; renews: boolean }): string {
  if (expires_at === null) return 'The token does not expire.';
  if (given.renews) return `The token expires at ${instantText(expires_at)} and is renewed automatically.`;
  return given.login.description.refresh === 'none'
    ? `The token expires at ${instantText(expires_at)}. This vendor does not renew tokens: log in again before that.`
    : `The token expires at ${instantText(expires_at)}. The vendor returned no refresh token: log in again before that, or request offline access in the app's scopes.`;
}

/** The program that opens URLs on this platform; undefined if there's no display. */
function opener(): string | undefined {
  if (process.platform === 'darwin') return 'open';
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION, BROWSER } = process.env;
  if (BROWSER !== undefined && BROWSER !== '') return BROWSER;
  const isDesk = DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  return isDesk && SSH_CONNECTION === undefined ? 'xdg-open' : undefined;
}

/**
 * Opens a URL in the user's browser, if there is one. Resolves to whether a program was started. Doesn't wait for the
 * program to exit.
 */
function openBrowser(url: string): Promise<boolean> {
  const program = opener();
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true });
    child.once('spawn', () => resolve(true)).once('error', () => resolve(false));
    child.unref();
  });
}

interface ByCodeOptions {
  readonly source: LoginSource;
  readonly vendor: TokenClient;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs the OAuth device flow: shows a code to enter on another device, and waits for the user's approval. */
async function byCode({ source, vendor, say, signal }: ByCodeOptions): Promise<TokenResponse> {
  if (source.login.description.device === undefined) throw noCodes(source);
  const consent = await DeviceConsent.begin(vendor, systemClock);
  const { address, fullAddress, userCode, lifetimeMs } = consent.code;
  say(`Open this URL on any device and enter this code:\n\n  ${address}\n\n  ${printable(userCode)}\n`);
  if (fullAddress !== undefined) say(`Or open this URL, which contains the code: ${fullAddress}`);
  const until = instantText(systemClock.now() + lifetimeMs);
  say(`The code is valid until ${until}. Waiting for approval (Ctrl-C to cancel) …`);
  return consent.wait(signal);
}

function noCodes({ name, connector }: LoginSource): Problem {
  return new Problem({
    code: 'CLI_NO_CODES',
    family: 'config',
    message: `${connector.title} does not support login by code`,
    where: { source: name },
    next: `sluice login ${name} --paste`,
  });
}
