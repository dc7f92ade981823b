import type { ApiCall } from './endpoint.ts';
import { type ApiError, forbidden, notFound } from './http/api-error.ts';
import { canEdit, canSee } from './store/shares.ts';
import { type Tab, tabAsShared, tabById } from './store/tabs.ts';

/**
 * A dashboard visible to the caller; 404 for any other. If the ID was found through another asset, `refuse` creates an
 * error that names the ID that the caller sent, so that it reveals no other ID.
 */
export function findTab({ context, account, caller, params }: ApiCall, id = params.id!, refuse = noTab(id)): Tab {
  const tab = tabById(context.db, id);
  if (tab?.accountId !== account.id || !canSee(context.db, tabAsShared(tab), caller)) throw refuse();
  return tab;
}

type Refuse = () => ApiError;

function noTab(id: string): Refuse {
  return () => notFound(`Dashboard not found: ${id}`);
}

/** Like {@link findTab}, but 403 if the caller may not change it. */
export function findEditableTab(call: ApiCall, id?: string, refuse?: Refuse): Tab {
  const tab = findTab(call, id, refuse);
  if (!canEdit(call.context.db, tabAsShared(tab), call.caller)) {
    throw forbidden('You can view the dashboard, but not change it');
  }
  return tab;
}
