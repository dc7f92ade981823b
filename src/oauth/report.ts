import type { Login, Source } from '../config/config.ts';
import type { Store } from '../state/store.ts';
import type { LoginRow } from '../state/tables.ts';
import { identityOf } from './identity.ts';

/** A login's state, without its tokens. Times are epoch milliseconds. */
export interface LoginReport {
  readonly login: string;
  /** The sources that use the login; empty if it's no longer in the config. */
  readonly sources: readonly string[];
  /**
   * `ends soon`: the login expires within a week and can't be renewed without a person. `not yet used`: the first run
   * will get a token automatically. `needs a person`: no one has logged in, or the token can't be renewed. `refused`:
   * the vendor ended the grant. `unused`: the login isn't in the config. `good`: none of the above.
   */
  readonly state: 'good' | 'ends soon' | 'not yet used' | 'needs a person' | 'refused' | 'unused';
  readonly grant?: Login['grant'];
  readonly who?: string;
  readonly scopes: readonly string[];
  /** Expiry of the current token. */
  readonly expires_at?: number;
  readonly renewed_at?: number;
  readonly code?: string;
  readonly message?: string;
}

/** A login that only a person can renew is reported this long before it expires. */
const soonMs = 7 * 86_400_000;

/** Reports all logins in a config, and stored logins that aren't in it. Doesn't decrypt tokens or send requests. */
export async function reportLogins(
  sources: Iterable<Source>,
  store: Store | undefined,
  now: number,
): Promise<LoginReport[]> {
  const rows = new Map((await store?.logins.all())?.map((row) => [row.name, row]));
  const using = Map.groupBy(
    [...sources].filter(({ login }) => login !== undefined),
    ({ login }) => login!.name,
  );
  const known = [...using].map(([name, sharing]) => {
    const names = sharing.map((source) => source.name);
    return reportOf(sharing[0]!.login!, { sources: names, row: rows.get(name), now });
  });
  const unused = [...rows.values()].filter(({ name }) => !using.has(name)).map(reportUnused);
  return [...known, ...unused];
}

/** Whether a person must log in, now or within a week, so that the login's sources can be read. */
export function needsPerson({ state }: LoginReport): boolean {
  return state === 'needs a person' || state === 'refused' || state === 'ends soon';
}

interface Known {
  readonly sources: readonly string[];
  readonly row: LoginRow | undefined;
  readonly now: number;
}

function reportOf(login: Login, { sources, row, now }: Known): LoginReport {
  const own = { login: login.name, sources, grant: login.grant };
  const isOurs = row !== undefined && row.identity === identityOf(login);
  if (isOurs) return { ...own, state: stateOf(login, row, now), ...factsOf(row) };
  const message = row === undefined ? {} : { message: 'the stored login belongs to another app, user or URL' };
  const state = login.grant === 'authorization_code' ? 'needs a person' : 'not yet used';
  return { ...own, state, scopes: [], ...message };
}

function stateOf({ description, grant }: Login, row: LoginRow, now: number): LoginReport['state'] {
  const { state, expires_at } = row;
  if (state === 'refused') return 'refused';
  const isRenewed = description.refresh !== 'none' || grant !== 'authorization_code';
  if (isRenewed || expires_at === null || expires_at > now + soonMs) return 'good';
  return expires_at > now ? 'ends soon' : 'needs a person';
}

function reportUnused(row: LoginRow): LoginReport {
  return { login: row.name, sources: [], state: 'unused', ...factsOf(row) };
}

function factsOf({ who, scopes, expires_at, renewed_at, code, message }: LoginRow) {
  return {
    ...(who === null ? {} : { who }),
    scopes: scopes === '' ? [] : scopes.split(/\s+/),
    ...(expires_at === null ? {} : { expires_at }),
    renewed_at,
    ...(code === null ? {} : { code }),
    ...(message === null ? {} : { message }),
  };
}
