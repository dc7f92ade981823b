import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { dataOf, make, peopleBench, roleIds } from './people.ts';
import { bench, keys } from './service.ts';

const day = 86_400_000;

// Clients of this API look a user up by e-mail address, take the first result and change that user.
describe('the list of users', () => {
  it('can be filtered by e-mail address in any case and by external ID, within the account', async () => {
    const given = await bench();
    const id = await make(given, '/users', { email: 'Zoë@acme.test', external_id: 'crm-7' });
    await make(given, '/users', { email: 'ann@acme.test', external_id: 'crm-8' });
    const found = async (query: string, key: string = keys.acmeAdmin) => {
      const { body } = await given.call('GET', `/users?${query}`, { key });
      return [body.meta.total, (body.data.users as { id: string }[]).map((user) => user.id)];
    };
    expect(await found(`email=${encodeURIComponent('zoë@ACME.test')}`)).toEqual([1, [id]]);
    expect(await found('external_id=crm-7&limit=1')).toEqual([1, [id]]);
    expect(await found('external_id=crm-8&email=zo%C3%AB@acme.test')).toEqual([0, []]);
    expect(await found('email=admin@other.test')).toEqual([0, []]);
    expect(await found('email=admin@bakery.test&client_id=bakery')).toEqual([1, ['bakery-admin']]);
    expect(await found("email=' or 1=1 --")).toEqual([0, []]);
    expect(await found('email=%25')).toEqual([0, []]);
    expect((await given.call('GET', '/users?email=')).status).toBe(400);
  });
});

it('the list of groups can be filtered by external ID', async () => {
  const given = await bench();
  const id = await make(given, '/groups', { name: 'Sales', external_id: 'crm-7' });
  const { groups } = await dataOf(given, '/groups?external_id=crm-7');
  expect(groups).toEqual([expect.objectContaining({ id })]);
  expect((await dataOf(given, '/groups?external_id=CRM-7')).groups).toEqual([]);
});

it('the list of clients can be filtered by external ID and by their current status', async () => {
  const clock = new SteppingClock('2026-06-01T12:00:00Z');
  const given = await bench({ clock });
  const id = await make(given, '/clients', { name: 'Mill', external_id: 'crm-1' });
  const found = async (query: string) => {
    const { clients } = await dataOf(given, `/clients?${query}`);
    return (clients as { id: string }[]).map((client) => client.id);
  };
  expect(await found('external_id=crm-1')).toEqual([id]);
  expect([await found('status=trial'), await found('status=expired')]).toEqual([[id], []]);
  clock.advance(14 * day);
  expect([await found('status=trial'), await found('status=expired')]).toEqual([[], [id]]);
  expect(await found('status=active&external_id=crm-1')).toEqual([]);
  expect((await given.call('GET', '/clients?status=closed')).status).toBe(400);
});

// A TypeScript client reads the roles and groups of all users with one call.
it('users can be listed with their groups and roles, or with everything', async () => {
  const given = await peopleBench();
  const { Editor } = await roleIds(given);
  const of = async (query: string) => {
    const { users } = await dataOf(given, `/users?email=vi@acme.test&${query}`);
    return (users as Record<string, unknown>[])[0]!;
  };
  await given.call('PUT', '/users/acme-viewer', { body: { roles: [Editor] } });
  const groups = [{ id: 'acme-team', name: 'Team' }];
  const plain = await of('');
  expect(plain).not.toHaveProperty('roles');
  expect(await of('include_roles=true')).toEqual({ ...plain, roles: [Editor] });
  expect(await of('include_groups=true&include_roles=True')).toEqual({ ...plain, groups, roles: [Editor] });
  expect(await of('full=true')).toEqual(await dataOf(given, '/users/acme-viewer?full=true'));
});

it('clients can be listed and read with more fields', async () => {
  const given = await peopleBench();
  const { clients } = await dataOf(given, '/clients?full=true');
  expect(clients).toContainEqual(await dataOf(given, '/clients/bakery'));
  expect(await dataOf(given, '/clients/bakery?full=true')).toMatchObject({
    direct_billing: false,
    users: [{ id: 'bakery-admin', email: 'admin@bakery.test' }],
    groups: [{ id: 'bakery-team', name: 'Team' }],
  });
});
