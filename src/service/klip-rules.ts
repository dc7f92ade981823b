import type { ApiCall } from './endpoint.ts';
import { forbidden, notFound } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { type Klip, klipAsShared, klipById } from './store/klips.ts';
import { canEdit, canSee } from './store/shares.ts';

/**
 * Returns a Klip that is visible to the caller; by default, the Klip in the path. Throws 404 if there is none. If the
 * ID was found through another asset, pass the ID that the caller sent as `asked`, so that the error doesn't reveal the
 * Klip's ID.
 */
export function findKlip({ context, account, caller, params }: ApiCall, id = params.id!, asked = id): Klip {
  const klip = klipById(context.db, canonicalId(id));
  if (klip?.accountId !== account.id || !canSee(context.db, klipAsShared(klip), caller)) {
    throw notFound(`Klip not found: ${asked}`);
  }
  return klip;
}

/** Like {@link findKlip}, but throws 403 if the caller may not change the Klip. */
export function findEditableKlip(call: ApiCall): Klip {
  const klip = findKlip(call);
  if (!canEdit(call.context.db, klipAsShared(klip), call.caller)) {
    throw forbidden('You can view the Klip, but not change it');
  }
  return klip;
}
