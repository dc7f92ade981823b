import { type ApiCall, defineEndpoint, type Endpoint } from './endpoint.ts';
import { joinGroup, leaveGroup, type Membership } from './people-rules.ts';

/** Creates the endpoints for group membership. They exist both below a group's path and below a user's path. */
export function membershipEndpoints(path: `/${string}`, find: (call: ApiCall) => Membership): readonly Endpoint[] {
  const declared = {
    path,
    basis: 'decided',
    permission: ['user.manage'],
    find,
  } as const;
  return [
    defineEndpoint({
      ...declared,
      method: 'PUT',
      summary: 'Adds a user to a group',
      body: {},
      act: (call, pair) => joinGroup(call, pair),
    }),
    defineEndpoint({
      ...declared,
      method: 'DELETE',
      summary: 'Removes a user from a group',
      act: (call, pair) => leaveGroup(call, pair),
    }),
  ];
}
