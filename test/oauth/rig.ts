import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Login, SealKeys } from '../../src/config/config.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { authorize } from '../../src/oauth/authorize.ts';
import { Consent } from '../../src/oauth/consent.ts';
import { LoginRegistry } from '../../src/oauth/login-registry.ts';
import { openStore, type Store } from '../../src/state/store.ts';
import { dropState, stateFor } from '../state/engines.ts';
import { agree } from './person.ts';
import { client, robot, startVendor, type Vendor, type VendorOptions } from './vendor.ts';

const back = 'http://127.0.0.1/callback';

export async function vendorForTest(options: VendorOptions = {}): Promise<Vendor> {
  const vendor = await startVendor(options);
  onTestFinished(() => vendor.close());
  return vendor;
}

export async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-oauth-'));
  onTestFinished(async () => {
    await dropState(folder);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A user's login at the vendor, as in a config. */
export function personLogin(vendor: Pick<Vendor, 'description'>, more: Partial<Login> = {}): Login {
  return {
    name: 'acme',
    description: vendor.description,
    grant: 'authorization_code',
    scopes: vendor.description.scopes ?? [],
    redirectUri: back,
    clientId: client.id,
    clientSecret: client.secret,
    ...more,
  };
}

export function robotLogin(vendor: Vendor): Login {
  const description = { ...vendor.description, client_authentication: 'basic' as const };
  const app = { clientId: robot.id, clientSecret: robot.secret, scopes: ['read'] };
  return personLogin(vendor, { name: 'robot', grant: 'client_credentials', description, ...app });
}

export interface Desk {
  readonly store: Store;
  readonly book: LoginRegistry;
  /** Names of the events so far. */
  readonly events: string[];
  readonly entry: NonNullable<ReturnType<LoginRegistry['entry']>>;
  readonly login: Login;
  close(): Promise<void>;
}

export interface DeskGiven {
  readonly login: Login;
  readonly folder?: string;
  readonly clock?: Clock;
  readonly sealKeys?: SealKeys;
}

/** A process that uses a login, with its own state folder or a given one. */
export async function openDesk({ login, clock = systemClock, ...given }: DeskGiven): Promise<Desk> {
  const folder = given.folder ?? (await folderForTest());
  const store = await openStore(folder, { clock, ...stateFor(folder) });
  const events: string[] = [];
  const keys = given.sealKeys === undefined ? {} : { sealKeys: given.sealKeys };
  const book = new LoginRegistry({ store, clock, folder, emit: (...[name]) => void events.push(name), ...keys });
  const desk: Desk = {
    store,
    book,
    events,
    login,
    entry: book.entry({ name: login.name, login })!,
    async close() {
      await book.close();
      await store.close();
    },
  };
  onTestFinished(() => desk.close());
  return desk;
}

/** Lets a user consent, with plain requests, and stores the result. */
export async function agreeAt({ entry, login, store }: Desk): Promise<void> {
  const consent = await Consent.begin(login, login.redirectUri);
  const address = new URL(await agree(consent.url, login.redirectUri));
  const ask = () => consent.redeem(address, entry.tokenClient);
  await authorize(entry, { login, store, ask });
}

/** Whether the vendor's own page accepts the token. */
export async function opens(vendor: Vendor, token: string): Promise<boolean> {
  return (await fetch(`${vendor.url}/rows`, { headers: { authorization: `Bearer ${token}` } })).ok;
}
