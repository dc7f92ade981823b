import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { filtered, listRows } from './listing.ts';
import { type Person, personColumns } from './users.ts';

export interface UserGroup {
  readonly id: string;
  readonly accountId: string;
  readonly externalId: string | null;
  readonly name: string;
  readonly description: string;
}

const columns = 'g.id, g.account_id as accountId, g.external_id as externalId, g.name, g.description';
const order = 'g.created_at, g.id';

export function groupById(db: Database, id: string): UserGroup | undefined {
  return db.get<UserGroup>(`select ${columns} from groups g where g.id = ?`, id);
}

/** Returns the account's group that has exactly this name (case-sensitive). */
export function groupByName(db: Database, accountId: string, name: string): UserGroup | undefined {
  return db.get<UserGroup>(`select ${columns} from groups g where g.account_id = ? and g.name = ?`, accountId, name);
}

/** Returns one page of an account's groups, oldest first; with `external_id`, only those that have it. */
export function groupsOfAccount(
  db: Database,
  accountId: string,
  filter: Page & { readonly external_id?: string },
): Listed<UserGroup> {
  const { from, values } = filtered('from groups g where g.account_id = ?', [accountId], {
    'g.external_id = ?': [filter.external_id],
  });
  return listRows(db, { columns, from, order }, values, filter);
}

/** Returns all groups of an account, oldest first. */
export function allGroupsOf(db: Database, accountId: string): { id: string; name: string }[] {
  return db.all(`select g.id, g.name from groups g where g.account_id = ? order by ${order}`, accountId);
}

/** Returns one page of a user's groups, oldest group first. */
export function groupsOfUser(db: Database, userId: string, page: Page): Listed<UserGroup> {
  const from = 'from group_members m join groups g on g.id = m.group_id where m.user_id = ?';
  return listRows(db, { columns, from, order }, [userId], page);
}

export function createGroup(db: Database, group: UserGroup, now: number): void {
  const { id, accountId, externalId, name, description } = group;
  db.insert('groups', { id, accountId, externalId, name, description, createdAt: now });
}

export function updateGroup(
  db: Database,
  id: string,
  { name, description, external_id }: { name?: string; description?: string; external_id?: string },
): void {
  db.update('groups', id, { name, description, external_id });
}

/** Deletes a group with its memberships and shares. */
export function deleteGroup(db: Database, id: string): void {
  db.run('delete from groups where id = ?', id);
}

export function countMembers(db: Database, groupId: string): number {
  return db.get<{ n: number }>('select count(*) as n from group_members where group_id = ?', groupId)!.n;
}

const members = 'from group_members m join users u on u.id = m.user_id where m.group_id = ?';

export function membersOf(db: Database, groupId: string, page: Page): Listed<Person> {
  return listRows(db, { columns: personColumns, from: members, order: 'u.created_at, u.id' }, [groupId], page);
}

/** Returns all members of a group, oldest user first. */
export function allMembersOf(db: Database, groupId: string): Person[] {
  return db.all<Person>(`select ${personColumns} ${members} order by u.created_at, u.id`, groupId);
}

export function addMember(db: Database, groupId: string, userId: string): void {
  db.run('insert into group_members (group_id, user_id) values (?, ?) on conflict do nothing', groupId, userId);
}

/** Removes a user from a group. Returns whether the user was a member. */
export function removeMember(db: Database, groupId: string, userId: string): boolean {
  return db.run('delete from group_members where group_id = ? and user_id = ?', groupId, userId) === 1;
}
