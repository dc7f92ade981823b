import { Type } from 'typebox';
import { editable } from '../datasource-rules.ts';
import type { Call, Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nothing } from '../http/fields.ts';
import { badRequest, notFound, Refusal } from '../http/refusal.ts';
import { endShare, holderType, rights, rightsOf, shareAll, shareBody } from '../sharing.ts';
import { asShared, type Datasource, datasourceById } from '../store/datasources.ts';
import { canSee } from '../store/shares.ts';

const path = '/datasources/{id}/share-rights';

/** Here, and only here, a source that exists but is not the caller's to see answers 401. */
function findShared({ parts, account, caller, params }: Call): Datasource {
  const source = datasourceById(parts.db, params.id!);
  if (source === undefined) throw notFound(`Data source not found: ${params.id}`);
  if (source.accountId === account.id && canSee(parts.db, asShared(source), caller)) return source;
  throw new Refusal('permission_denied', 'The data source is not shared with you');
}

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
      answer: { status: 200, data: Type.Object(rights) },
      find: (call) => findShared(call),
      do: ({ parts }, source) => ({ data: rightsOf(parts.db, asShared(source)) }),
    }),
    defineEndpoint({
      method: 'PUT',
      path,
      summary: 'Shares a data source, or changes how it is shared',
      basis: 'document',
      decided: 'all of it is checked before anything changes',
      permission: ['datasource.share'],
      body: shareBody,
      answer: { status: 200, data: nothing },
      find: (call) => editable(call, findShared(call)),
      do: (call, source) => {
        shareAll(call, asShared(source), call.body);
        return {};
      },
    }),
    defineEndpoint({
      method: 'DELETE',
      path,
      summary: 'Refuses: the group or user is missing from the path',
      basis: 'document',
      decided: 'always 400',
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
        endShare(call, asShared(source), { kind: call.query.type, id: call.params.holder! });
        return {};
      },
    }),
  ],
};
export default resource;
