import type { ApiCall } from './endpoint.ts';
import { ApiError, forbidden } from './http/api-error.ts';
import { administers, canSee, type SharedAsset, sharedWithGroupOf } from './store/shares.ts';

/**
 * Checks that the caller may import an asset into a client account. Throws 401 if the asset isn't visible to the
 * caller, even if it exists. Throws 403 if the asset isn't shared with any of the caller's groups, unless the caller
 * administers assets of this kind. `what` names the asset; it must fit at the start of a sentence.
 */
export function requireImportable({ context, caller }: ApiCall, asset: SharedAsset, what: string): void {
  if (!canSee(context.db, asset, caller)) throw notShared(what);
  if (!administers(caller, asset.kind) && !sharedWithGroupOf(context.db, asset, caller.user.id)) {
    throw forbidden(`${what} is not shared with any of your groups`);
  }
}

/** Creates the error for an import of an asset that the caller can't see. */
export function notShared(what: string): ApiError {
  return new ApiError('permission_denied', `${what} is not shared with you`);
}
