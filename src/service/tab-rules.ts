import type { Call } from './endpoint.ts';
import { forbidden, notFound, type Refusal } from './http/api-error.ts';
import { canEdit, canSee } from './store/shares.ts';
import { type Tab, tabAsShared, tabById } from './store/tabs.ts';

/**
 * A dashboard that the caller may see; anything else does not exist for them. Where something else led to the id, the
 * refusal must be about what the caller named: it shows them nothing more.
 */
export function findTab({ parts, account, caller, params }: Call, id = params.id!, refuse = noTab(id)): Tab {
  const tab = tabById(parts.db, id);
  if (tab?.accountId !== account.id || !canSee(parts.db, tabAsShared(tab), caller)) throw refuse();
  return tab;
}

type Refuse = () => Refusal;

function noTab(id: string): Refuse {
  return () => notFound(`Dashboard not found: ${id}`);
}

/** The same, for callers who are about to change it. */
export function findEditableTab(call: Call, id?: string, refuse?: Refuse): Tab {
  const tab = findTab(call, id, refuse);
  if (!canEdit(call.parts.db, tabAsShared(tab), call.caller)) {
    throw forbidden('The dashboard is shared with you to see, not to change');
  }
  return tab;
}
