import type { ApiCall } from './endpoint.ts';
import { ApiError, forbidden } from './http/api-error.ts';
import { administers, canSee, type SharedAsset, sharedWithGroupOf } from './store/shares.ts';

/**
 * To import something into a client account, the caller must see it (401, here even if it exists) and
 * have it through one of their groups (403), unless they administer its kind. `what` names it at the start of a sentence.
 */
export function requireImportable({ context, caller }: ApiCall, asset: SharedAsset, what: string): void {
  if (!canSee(context.db, asset, caller)) throw notShared(what);
  if (!administers(caller, asset.kind) && !sharedWithGroupOf(context.db, asset, caller.user.id)) {
    throw forbidden(`${what} is not shared with any of your groups`);
  }
}

/** The refusal of an import of something that one does not see. */
export function notShared(what: string): ApiError {
  return new ApiError('permission_denied', `${what} is not shared with you`);
}
