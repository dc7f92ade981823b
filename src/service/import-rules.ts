import type { ApiCall } from './endpoint.ts';
import { ApiError, forbidden } from './http/api-error.ts';
import { administers, canSee, type SharedAsset, sharedWithGroupOf } from './store/shares.ts';

/**
 * Whoever gives something to a client must see it (401; a foreign thing that exists answers so here, and only here) and
 * have it by a group of theirs (403), unless they administer its kind. `what` names it at the start of a sentence.
 */
export function requireImportable({ context, caller }: ApiCall, asset: SharedAsset, what: string): void {
  if (!canSee(context.db, asset, caller)) throw notShared(what);
  if (!administers(caller, asset.kind) && !sharedWithGroupOf(context.db, asset, caller.user.id)) {
    throw forbidden(`${what} is not shared with a group of yours`);
  }
}

/** The refusal of an import of something that one does not see. */
export function notShared(what: string): ApiError {
  return new ApiError('permission_denied', `${what} is not shared with you`);
}
