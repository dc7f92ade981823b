import { newId } from '../lib/ids.ts';
import { hashPassword } from './auth/passwords.ts';
import { followUsers } from './datasource-instancing.ts';
import type { ApiCall } from './endpoint.ts';
import { badRequest, forbidden } from './http/api-error.ts';
import { findRole, findUser, keepAnAdmin, requireAdmin, requireMastery } from './people-rules.ts';
import { seatsOf } from './store/client-limits.ts';
import { giveRole, type Role, roleByName } from './store/roles.ts';
import { insertUser } from './store/setup.ts';
import { countUsers, deleteUser, type User, updateUser, userByEmail } from './store/users.ts';

interface UserFields {
  readonly email?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly password?: string;
  readonly external_id?: string;
  readonly roles?: readonly string[];
}

type UserCall<B = UserFields> = ApiCall<unknown, B>;

/** Creates a user, who has the View-Only role by default. Returns the user's ID. */
export async function addUser(call: UserCall<UserFields & { email: string }>): Promise<string> {
  const { context, account, body } = call;
  const { email, first_name: firstName = '', last_name: lastName = '', external_id: externalId = null } = body;
  if (body.roles !== undefined) requireAdmin(call);
  checkNew(call, email);
  const password = await hashed(body.password);
  const id = newId();
  const now = context.clock.now();
  const gone = context.db.durably(() => {
    // Check again, because another request may have taken the seat or the e-mail address, or deleted the role, while
    // this request hashed the password.
    checkNew(call, email);
    const roleId = namedRole(call)?.id ?? roleByName(context.db, account.id, 'View-Only')!.id;
    const names = { email, firstName, lastName };
    insertUser(context.db, { id, accountId: account.id, roleId, ...names, externalId, password, createdAt: now });
    return followUsers(context.db, account.id, now);
  });
  for (const blob of gone) await context.blobs.remove(blob);
  return id;
}

/**
 * Changes those fields of a user that the body contains. Throws an ApiError if the caller may not change the user or
 * one of these fields.
 */
export async function changeUser(call: UserCall): Promise<void> {
  const { context, body } = call;
  if (body.roles !== undefined) requireAdmin(call);
  requireMastery(call, findUser(call));
  const password = await hashed(body.password);
  context.db.durably(() => {
    const user = findUser(call);
    if (body.email !== undefined) checkEmail(call, body.email, user);
    const role = namedRole(call);
    if (role !== undefined && role.id !== user.roleId) {
      keepAnAdmin(call, user);
      giveRole(context.db, user.id, role.id);
    }
    updateUser(context.db, user.id, body, password);
  });
}

/** Deletes a user with the user's own data. Throws 403 if the user is the account's last admin. */
export async function removeUser(call: ApiCall, user: User): Promise<void> {
  const { db, blobs, clock } = call.context;
  requireMastery(call, user);
  const gone = db.durably(() => {
    keepAnAdmin(call, user);
    deleteUser(db, user.id);
    return followUsers(db, user.accountId, clock.now());
  });
  for (const blob of gone) await blobs.remove(blob);
}

function checkNew(call: UserCall, email: string): void {
  const { context, account } = call;
  const seats = seatsOf(context.db, account.id);
  if (seats >= 0 && countUsers(context.db, account.id) >= seats) throw forbidden(`All ${seats} seats are taken`);
  namedRole(call);
  checkEmail(call, email);
}

/**
 * Checks that the e-mail address isn't used by another user. Users sign in with their e-mail addresses, so an address
 * must be unique in the whole service.
 */
function checkEmail({ context }: ApiCall, email: string, self?: User): void {
  const known = userByEmail(context.db, email);
  if (known !== undefined && known.id !== self?.id) throw badRequest('Field "email" is already used by another user');
}

function namedRole(call: UserCall): Role | undefined {
  const [id] = call.body.roles ?? [];
  return id === undefined ? undefined : findRole(call, id);
}

async function hashed(password: string | undefined): Promise<string | null> {
  return password === undefined ? null : hashPassword(password);
}
