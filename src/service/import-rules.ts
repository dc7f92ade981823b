import type { ApiCall } from './endpoint.ts';
import { ApiError, forbidden } from './http/api-error.ts';
import { administers, canSee, type SharedAsset, sharedWithGroupOf } from './store/shares.ts';

/**
 * Checks that the caller may import an asset into a client account: it must be visible to them (401, even if it exists)
 * and shared with one of their groups (403), unless they administer its kind. `what` names the asset at the start of a
 * sentence.
 */
export function requireImportable({ context, caller }: ApiCall, asset: SharedAsset, what: string): void {
  if (!canSee(context.db, asset, caller)) throw notShared(what);
  if (!administers(caller, asset.kind) && !sharedWithGroupOf(context.db, asset, caller.user.id)) {
    throw forbidden(`${what} is not shared with any of your groups`);
  }
}

/** The error for importing an asset that the caller can't see. */
export function notShared(what: string): ApiError {
  return new ApiError('permission_denied', `${what} is not shared with you`);
}
