import { forbidden } from './http/api-error.ts';
import { dashboardsLeft, privateLinksLeft } from './store/client-limits.ts';
import { featuresOff } from './store/clients.ts';
import type { Database } from './store/database.ts';

// Checks of the limits on new dashboards and links. Call them in the transaction that creates the asset, so that
// concurrent calls can't exceed the limits.

/** Checks the dashboard limit before a dashboard is created. Throws an ApiError (403) if the limit has been reached. */
export function requireDashboardCapacity(db: Database, accountId: string): void {
  if (dashboardsLeft(db, accountId) === 0) throw forbidden("Limit reached: the account can't have more dashboards");
}

/**
 * Checks the limits before a link is created or changes between public and private. Throws an ApiError (403) if the
 * account may not have such a link.
 */
export function requireLinkCapacity(db: Database, accountId: string, { isPublic }: { isPublic: 0 | 1 }): void {
  const off = featuresOff(db, accountId);
  if (off.has('published_dashboards')) throw forbidden('Published dashboards are disabled for this account');
  if (isPublic === 1 && off.has('public_dashboards')) {
    throw forbidden('Public dashboards are disabled for this account');
  }
  if (isPublic === 0 && privateLinksLeft(db, accountId) === 0) {
    throw forbidden("Limit reached: the account can't have more private published links");
  }
}
