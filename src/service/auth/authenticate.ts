import type { IncomingHttpHeaders } from 'node:http';
import { isClosed, statusAt } from '../client-status.ts';
import { ApiError } from '../http/api-error.ts';
import type { Limits } from '../limits/limits.ts';
import { type Account, accountById } from '../store/accounts.ts';
import type { Database } from '../store/database.ts';
import { roleOf, type User, userByEmail, userByKey } from '../store/users.ts';
import { verifyPassword } from './passwords.ts';
import type { Permission } from './permissions.ts';

/** The authenticated user and their permissions. */
export interface Caller {
  readonly user: User;
  /** The account that the caller belongs to. Its limits apply to the caller's requests. */
  readonly company: Account;
  readonly isAdmin: boolean;
  readonly permissions: ReadonlySet<Permission>;
}

export interface RequestCredentials {
  /** SHA-256 hash of the API key in the request, in hex. */
  readonly keyHash: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Where the request came from. */
  readonly address: string;
  /** Wall clock. */
  readonly now: number;
}

/** Authenticates a request. An API key takes precedence over other credentials. */
export function authenticate(db: Database, limits: Limits, given: RequestCredentials): Caller | Promise<Caller> {
  const { keyHash } = given;
  if (keyHash === undefined) return callerByPassword(db, limits, given);
  const caller = callerByKey(db, keyHash);
  if (caller === undefined) {
    limits.countFailure(given.address);
    throw invalid();
  }
  return admitted(limits, given, caller);
}

async function callerByPassword(db: Database, limits: Limits, given: RequestCredentials): Promise<Caller> {
  return admitted(limits, given, callerOf(db, await userOf(db, limits, given)));
}

function admitted(limits: Limits, given: RequestCredentials, caller: Caller): Caller {
  if (isClosed(caller.company, given.now)) {
    limits.countFailure(given.address);
    throw new ApiError(
      'auth_fail',
      `The account that these credentials belong to is ${statusAt(caller.company, given.now)}`,
    );
  }
  return caller;
}

function callerOf(db: Database, user: User): Caller {
  return { user, company: accountById(db, user.accountId)!, ...roleOf(db, user) };
}

function userOf(db: Database, limits: Limits, { headers, address }: RequestCredentials): User | Promise<User> {
  const basic = /^basic\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  if (basic !== undefined) return userOfPassword(db, limits, basic, address);
  limits.countFailure(address);
  if (headers.authorization !== undefined) throw invalid();
  throw new ApiError('auth_not_provided', 'This operation requires authentication');
}

/** A valid key is accepted even from a rate-limited address, because a key can't be guessed. */
function callerByKey(db: Database, keyHash: string): Caller | undefined {
  return db.remember('caller', keyHash, () => {
    const user = userByKey(db, Buffer.from(keyHash, 'hex'));
    return user && callerOf(db, user);
  });
}

/**
 * Passwords can be guessed, so each attempt counts as a failure before the password is verified. If the password is
 * correct, the failure is deducted again.
 */
async function userOfPassword(db: Database, limits: Limits, basic: string, address: string): Promise<User> {
  const forgive = limits.countFailure(address);
  const text = Buffer.from(basic, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const user = colon < 0 ? undefined : userByEmail(db, text.slice(0, colon));
  const right = await verifyPassword(colon < 0 ? '' : text.slice(colon + 1), user?.password ?? null);
  if (!right || user === undefined) throw invalid();
  forgive();
  return user;
}

function invalid(): ApiError {
  return new ApiError('auth_fail', 'The credentials you provided are invalid');
}
