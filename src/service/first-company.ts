import { newId } from '../lib/ids.ts';
import { hashKey, newKey } from './auth/keys.ts';
import type { Database } from './store/database.ts';
import { insertAccount, insertBuiltInRoles, insertKey, insertUser } from './store/setup.ts';

/**
 * Creates the company "Local" and its one admin in an empty service. Returns the admin's API key, which is not stored.
 */
export function createFirstCompany(db: Database, now: number, key = newKey()): string {
  db.durably(() => {
    const company = insertAccount(db, { id: newId(), name: 'Local', plan: 'enterprise', createdAt: now });
    const roles = insertBuiltInRoles(db, company, now);
    const user = {
      id: newId(),
      accountId: company,
      roleId: roles.get('Admin')!,
      email: 'admin@localhost',
      createdAt: now,
    };
    insertKey(db, {
      hash: hashKey(key),
      userId: insertUser(db, { ...user, firstName: 'Local', lastName: 'Admin' }),
      now,
    });
  });
  return key;
}
