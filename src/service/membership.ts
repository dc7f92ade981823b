import { type ApiCall, defineEndpoint, type Endpoint } from './endpoint.ts';
import { joinGroup, leaveGroup, type Membership } from './people-rules.ts';

interface MembershipPath {
  readonly path: `/${string}`;
  /** The IDs of the operations that add and remove a member. */
  readonly ids: readonly [add: string, remove: string];
  readonly find: (call: ApiCall) => Membership;
}

/** Creates the endpoints for group membership. They exist both below a group's path and below a user's path. */
export function membershipEndpoints({ path, ids, find }: MembershipPath): readonly Endpoint[] {
  const declared = {
    path,
    basis: 'decided',
    permission: ['user.manage'],
    find,
  } as const;
  return [
    defineEndpoint({
      ...declared,
      id: ids[0],
      method: 'PUT',
      summary: 'Adds a user to a group',
      body: {},
      act: (call, pair) => joinGroup(call, pair),
    }),
    defineEndpoint({
      ...declared,
      id: ids[1],
      method: 'DELETE',
      summary: 'Removes a user from a group',
      act: (call, pair) => leaveGroup(call, pair),
    }),
  ];
}
