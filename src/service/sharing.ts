import { Type } from 'typebox';
import type { ApiCall } from './endpoint.ts';
import { forbidden, notFound } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { defineModel } from './model.ts';
import type { Database } from './store/database.ts';
import {
  groupRights,
  type HolderKind,
  holderById,
  type SharedAsset,
  share,
  unshare,
  userRights,
} from './store/shares.ts';

/** Fields and rules for sharing, which are the same for all assets that can be shared. */

const groupRight = defineModel('GroupShareRight', {
  group_id: Type.String(),
  group_name: Type.String(),
  can_edit: Type.Boolean(),
});
const userRight = defineModel('UserShareRight', {
  user_id: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  can_edit: Type.Boolean(),
});

/** Response fields that list the groups and users that an asset is shared with. */
export const rights = { share_rights: Type.Array(groupRight), user_share_rights: Type.Array(userRight) };

const canEdit = Type.Optional(Type.Boolean());

/** Body fields of a request that shares an asset. */
export const shareBody = {
  groups: Type.Array(defineModel('GroupShare', { group_id: Type.String(), can_edit: canEdit })),
  users: Type.Optional(Type.Array(defineModel('UserShare', { user_id: Type.String(), can_edit: canEdit }))),
};

/** Whether the ID at the end of the path identifies a group or a user. */
export const holderType = Type.Enum(['group', 'user'] as const, { default: 'group' });

/** A validated {@link shareBody}. */
export interface ShareBody {
  groups: { group_id: string; can_edit?: boolean }[];
  users?: { user_id: string; can_edit?: boolean }[];
}

/** Returns an asset's share rights as response fields. */
export function rightsOf(db: Database, asset: SharedAsset): object {
  return { share_rights: groupRights(db, asset), user_share_rights: userRights(db, asset) };
}

/** Shares an asset with the given groups and users. Shares it with none of them if one is invalid. */
export function shareAll({ context }: ApiCall, asset: SharedAsset, { groups, users = [] }: ShareBody): void {
  const wanted = [
    ...groups.map(
      ({ group_id, can_edit = false }) =>
        ({ kind: 'group', holderId: canonicalId(group_id), canEdit: can_edit }) as const,
    ),
    ...users.map(
      ({ user_id, can_edit = false }) => ({ kind: 'user', holderId: canonicalId(user_id), canEdit: can_edit }) as const,
    ),
  ];
  const now = context.clock.now();
  context.db.durably(() => {
    for (const { kind, holderId } of wanted) checkHolder(context.db, asset, { kind, id: holderId });
    for (const right of wanted) share(context.db, asset, { ...right, now });
  });
}

function checkHolder(db: Database, asset: SharedAsset, { kind, id }: { kind: HolderKind; id: string }): void {
  const holder = holderById(db, kind, id);
  if (holder === undefined) throw notFound(`${words[kind]} not found: ${id}`);
  if (holder.accountId !== asset.accountId) throw forbidden(`The ${kind} belongs to another company: ${id}`);
}

const words = { group: 'Group', user: 'User', datasource: 'data source', klip: 'Klip', tab: 'dashboard' } as const;

/**
 * Stops sharing an asset with one group or user. Throws 404 if the group or user doesn't exist, and 403 if the asset
 * isn't shared with it.
 */
export function endShare(
  { context }: ApiCall,
  asset: SharedAsset,
  { kind, id }: { kind: HolderKind; id: string },
): void {
  if (holderById(context.db, kind, id) === undefined) throw notFound(`${words[kind]} not found: ${id}`);
  const ended = context.db.durably(() => unshare(context.db, asset, kind, id));
  if (!ended) throw forbidden(`The ${words[asset.kind]} is not shared with this ${kind}: ${id}`);
}

/** Stops sharing an asset with the given groups and users. Changes nothing if one of them is invalid. */
export function endShares(call: ApiCall, asset: SharedAsset, { groups, users = [] }: ShareBody): void {
  const groupIds = new Set(groups.map(({ group_id }) => canonicalId(group_id)));
  const userIds = new Set(users.map(({ user_id }) => canonicalId(user_id)));
  call.context.db.durably(() => {
    for (const id of groupIds) endShare(call, asset, { kind: 'group', id });
    for (const id of userIds) endShare(call, asset, { kind: 'user', id });
  });
}
