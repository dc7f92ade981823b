import type { ApiCall } from './endpoint.ts';
import { forbidden, notFound } from './http/api-error.ts';
import { type Klip, klipAsShared, klipById } from './store/klips.ts';
import { canEdit, canSee } from './store/shares.ts';

/**
 * A Klip visible to the caller, by default the one in the path; 404 for any other. If the ID was found through another
 * asset, `asked` is the ID that the caller sent, so that the error reveals no other ID.
 */
export function findKlip({ context, account, caller, params }: ApiCall, id = params.id!, asked = id): Klip {
  const klip = klipById(context.db, id);
  if (klip?.accountId !== account.id || !canSee(context.db, klipAsShared(klip), caller)) {
    throw notFound(`Klip not found: ${asked}`);
  }
  return klip;
}

/** Like {@link findKlip}, but 403 if the caller may not change it. */
export function findEditableKlip(call: ApiCall): Klip {
  const klip = findKlip(call);
  if (!canEdit(call.context.db, klipAsShared(klip), call.caller)) {
    throw forbidden('You can view the Klip, but not change it');
  }
  return klip;
}
