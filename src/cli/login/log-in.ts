import type { Config } from '../../config/config.ts';
import { LoginBreaker } from '../../daemon/login-holds/login-breaker.ts';
import { systemClock } from '../../lib/clock.ts';
import { authorize } from '../../oauth/authorize.ts';
import { Consent } from '../../oauth/consent.ts';
import { isLocal, Listener } from '../../oauth/listener.ts';
import type { LoginRegistry, RegisteredLogin } from '../../oauth/login-registry.ts';
import type { Store } from '../../state/store.ts';
import { printable } from '../table.ts';
import { ask } from './ask.ts';
import { byCode } from './by-code.ts';
import { untilText } from './expiry-text.ts';
import type { LoginSource } from './find-login.ts';
import { openBrowser } from './open-browser.ts';

export interface LogInOptions {
  readonly source: LoginSource;
  readonly book: LoginRegistry;
  readonly store: Store;
  readonly config: Config;
  readonly signal: AbortSignal;
  /** This machine has no browser, so the person pastes the redirect URL. */
  readonly paste: boolean;
  /** This machine has no browser, so it shows a code to enter on another device. */
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
  // The login works again, so it needn't stay on hold until its next attempt.
  await new LoginBreaker({ store, clock: systemClock, emit: () => undefined, ...config }).accepted(source);
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

/** The hint for remote machines: the redirect only works in a browser on this machine. */
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
