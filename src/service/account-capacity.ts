import { forbidden } from './http/api-error.ts';
import { dashboardsLeft, privateLinksLeft } from './store/client-limits.ts';
import { featuresOff } from './store/clients.ts';
import type { Database } from './store/database.ts';

// What an account may still make. Called in the transaction that makes it, so that two at once do not share a place.

/** For a dashboard that is new; 403 where the account has all that it may. */
export function requireDashboardCapacity(db: Database, accountId: string): void {
  if (dashboardsLeft(db, accountId) === 0) throw forbidden('The account has as many dashboards as it may');
}

/** For a link that is new, or that turns from public to private or back. */
export function requireLinkCapacity(db: Database, accountId: string, { isPublic }: { isPublic: 0 | 1 }): void {
  const off = featuresOff(db, accountId);
  if (off.has('published_dashboards')) throw forbidden('Published dashboards are switched off for this account');
  if (isPublic === 1 && off.has('public_dashboards')) {
    throw forbidden('Public dashboards are switched off for this account');
  }
  if (isPublic === 0 && privateLinksLeft(db, accountId) === 0) {
    throw forbidden('The account has as many private published links as it may');
  }
}
