import { Type } from 'typebox';
import type { Permission } from './auth/permissions.ts';
import { type ApiCall, defineEndpoint, type Endpoint } from './endpoint.ts';
import { badRequest } from './http/api-error.ts';
import { endShare, holderType, rights, rightsOf, shareAll, shareBody } from './sharing.ts';
import type { SharedAsset } from './store/shares.ts';

interface Shared {
  readonly path: `/${string}`;
  /** The kind of asset as it appears in the operations' IDs. */
  readonly noun: string;
  /** The kind of asset as it appears in a sentence, such as `a data source`. */
  readonly what: string;
  readonly basis: Endpoint['basis'];
  /** Permission required to share the asset. Reading its share rights requires `dashboard.library`. */
  readonly permission: readonly Permission[];
  readonly sharing?: Pick<Endpoint, 'decided'>;
  readonly seen: (call: ApiCall) => SharedAsset;
  readonly editable: (call: ApiCall) => SharedAsset;
}

/**
 * Creates the endpoints for an asset's share rights. One call can share an asset with several groups and users, but can
 * stop sharing with only one of them.
 */
export function shareEndpoints({
  path,
  noun,
  what,
  basis,
  permission,
  sharing = {},
  seen,
  editable,
}: Shared): readonly Endpoint[] {
  return [
    defineEndpoint({
      id: `get${noun}ShareRights`,
      method: 'GET',
      path,
      summary: `The groups and users that ${what} is shared with`,
      basis,
      permission: ['dashboard.library'],
      answer: { status: 200, data: Type.Object(rights) },
      find: (call) => seen(call),
      do: ({ context }, asset) => ({ data: rightsOf(context.db, asset) }),
    }),
    defineEndpoint({
      id: `share${noun}`,
      method: 'PUT',
      path,
      summary: `Shares ${what}, or changes how it is shared`,
      basis,
      ...sharing,
      permission,
      body: shareBody,
      find: (call) => editable(call),
      act: (call, asset) => shareAll(call, asset, call.body),
    }),
    defineEndpoint({
      id: `unshare${noun}FromUnnamed`,
      method: 'DELETE',
      path,
      refuses: true,
      summary: 'Always returns 400, because the group or user is missing from the path',
      basis,
      decided: 'always returns 400',
      permission,
      act: () => {
        throw badRequest('A group or user ID is missing after /share-rights/');
      },
    }),
    defineEndpoint({
      id: `unshare${noun}`,
      method: 'DELETE',
      path: `${path}/{holder}`,
      summary: 'Stops sharing with one group or user',
      basis,
      permission,
      query: { type: holderType },
      find: (call) => editable(call),
      act: (call, asset) => endShare(call, asset, { kind: call.query.type, id: call.params.holder! }),
    }),
  ];
}
