import type { ApiCall } from './endpoint.ts';
import { type ApiError, forbidden, notFound } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { canEdit, canSee } from './store/shares.ts';
import { type Tab, tabAsShared, tabById } from './store/tabs.ts';

/**
 * Returns a dashboard that the caller may see. Throws 404 if there is none. If the ID was found through another asset,
 * `refuse` creates an error that names the ID that the caller sent, so that the error doesn't reveal the dashboard's
 * ID.
 */
export function findTab({ context, account, caller, params }: ApiCall, id = params.id!, refuse = noTab(id)): Tab {
  const tab = tabById(context.db, canonicalId(id));
  if (tab?.accountId !== account.id || !canSee(context.db, tabAsShared(tab), caller)) throw refuse();
  return tab;
}

type Refuse = () => ApiError;

function noTab(id: string): Refuse {
  return () => notFound(`Dashboard not found: ${id}`);
}

/** Like {@link findTab}, but throws 403 if the caller may not change the dashboard. */
export function findEditableTab(call: ApiCall, id?: string, refuse?: Refuse): Tab {
  const tab = findTab(call, id, refuse);
  if (!canEdit(call.context.db, tabAsShared(tab), call.caller)) {
    throw forbidden('You can view the dashboard, but not change it');
  }
  return tab;
}
