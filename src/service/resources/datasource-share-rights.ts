import { Type } from 'typebox';
import { editable } from '../datasource-rules.ts';
import type { Call, Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nothing } from '../http/fields.ts';
import { badRequest, forbidden, notFound, Refusal } from '../http/refusal.ts';
import { canSee, type Datasource, datasourceById } from '../store/datasources.ts';
import { groupRights, type HolderKind, holderById, share, unshare, userRights } from '../store/shares.ts';

const path = '/datasources/{id}/share-rights';

const rights = Type.Object({
  share_rights: Type.Array(
    Type.Object({ group_id: Type.String(), group_name: Type.String(), can_edit: Type.Boolean() }),
  ),
  user_share_rights: Type.Array(
    Type.Object({
      user_id: Type.String(),
      first_name: Type.String(),
      last_name: Type.String(),
      can_edit: Type.Boolean(),
    }),
  ),
});

const canEdit = Type.Optional(Type.Boolean());
const shareBody = {
  groups: Type.Array(Type.Object({ group_id: Type.String(), can_edit: canEdit })),
  users: Type.Optional(Type.Array(Type.Object({ user_id: Type.String(), can_edit: canEdit }))),
};

/** Here, and only here, a source that exists but is not the caller's to see answers 401. */
function findShared({ parts, account, caller, params }: Call): Datasource {
  const source = datasourceById(parts.db, params.id!);
  if (source === undefined) throw notFound(`Data source not found: ${params.id}`);
  if (source.accountId === account.id && canSee(parts.db, source, caller)) return source;
  throw new Refusal('permission_denied', 'The data source is not shared with you');
}

interface Wanted {
  readonly kind: HolderKind;
  readonly id: string;
  readonly canEdit: boolean;
}

type ShareBody = {
  groups: { group_id: string; can_edit?: boolean }[];
  users?: { user_id: string; can_edit?: boolean }[];
};

function wantedBy({ groups, users = [] }: ShareBody): Wanted[] {
  return [
    ...groups.map(({ group_id, can_edit = false }) => ({ kind: 'group' as const, id: group_id, canEdit: can_edit })),
    ...users.map(({ user_id, can_edit = false }) => ({ kind: 'user' as const, id: user_id, canEdit: can_edit })),
  ];
}

/** All is checked before anything changes. */
function shareAll({ parts, body }: Call<unknown, ShareBody>, source: Datasource): void {
  const wanted = wantedBy(body);
  const now = parts.clock.now();
  parts.db.durably(() => {
    for (const { kind, id } of wanted) checkHolder(parts.db, kind, { id, source });
    for (const { kind, id, canEdit } of wanted) {
      share(parts.db, { datasourceId: source.id, kind, holderId: id, canEdit, now });
    }
  });
}

function checkHolder(
  db: Call['parts']['db'],
  kind: HolderKind,
  { id, source }: { id: string; source: Datasource },
): void {
  const holder = holderById(db, kind, id);
  if (holder === undefined) throw notFound(`${kind === 'group' ? 'Group' : 'User'} not found: ${id}`);
  if (holder.accountId !== source.accountId) throw forbidden(`The ${kind} belongs to another company: ${id}`);
}

function endShare({ parts, params, query }: Call<{ type: HolderKind }>, source: Datasource): void {
  const { holder } = params as { holder: string };
  if (holderById(parts.db, query.type, holder) === undefined) {
    throw notFound(`${query.type === 'group' ? 'Group' : 'User'} not found: ${holder}`);
  }
  const ended = parts.db.durably(() => unshare(parts.db, source.id, query.type, holder));
  if (!ended) throw forbidden(`The data source is not shared with this ${query.type}: ${holder}`);
}

const holderType = Type.Enum(['group', 'user'] as const, { default: 'group' });

const resource: Resource = {
  name: 'datasource-share-rights',
  summary: 'Who may see and change a data source',
  endpoints: [
    defineEndpoint({
      method: 'GET',
      path,
      summary: 'The groups and users that a data source is shared with',
      basis: 'document',
      permission: ['dashboard.library'],
      answer: { status: 200, data: rights },
      find: (call) => findShared(call),
      do: ({ parts }, { id }) => ({
        data: { share_rights: groupRights(parts.db, id), user_share_rights: userRights(parts.db, id) },
      }),
    }),
    defineEndpoint({
      method: 'PUT',
      path,
      summary: 'Shares a data source, or changes how it is shared',
      basis: 'document',
      permission: ['datasource.share'],
      body: shareBody,
      answer: { status: 200, data: nothing },
      find: (call) => editable(call, findShared(call)),
      do: (call, source) => {
        shareAll(call, source);
        return {};
      },
    }),
    defineEndpoint({
      method: 'DELETE',
      path,
      summary: 'Refuses: the group or user is missing from the path',
      basis: 'document',
      permission: ['datasource.share'],
      answer: { status: 200, data: nothing },
      do: () => {
        throw badRequest('The id of a group or user is missing after /share-rights/');
      },
    }),
    defineEndpoint({
      method: 'DELETE',
      path: `${path}/{holder}`,
      summary: 'Ends the sharing with one group or user',
      basis: 'document',
      permission: ['datasource.share'],
      query: { type: holderType },
      answer: { status: 200, data: nothing },
      find: (call) => editable(call, findShared(call)),
      do: (call, source) => {
        endShare(call, source);
        return {};
      },
    }),
  ],
};
export default resource;
