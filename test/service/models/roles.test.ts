import { expect, it } from 'vitest';
import fc from '../../property.ts';
import type { Bench } from '../service.ts';
import { type Person, Roles } from './roles.ts';
import { type Step, walk } from './run-model.ts';

const people = ['ada', 'bob', 'cy', 'dee'] as const;
const keyOf = (person: Person): string => Buffer.from(person.padEnd(20, '-')).toString('hex');
const names = ['user.manage', 'dashboard.library', 'klip.build', 'client.edit'] as const;
const managed = ['user.manage', 'dashboard.library'];

const roleOf: Readonly<Record<Person, string>> = { ada: 'Admin', bob: 'Manager', cy: 'View-Only', dee: 'Admin' };
const companies = [
  {
    id: 'acme',
    name: 'Acme',
    plan: 'grow',
    roles: [{ name: 'Manager', permissions: managed }],
    users: people.map((id) => ({ id, email: `${id}@acme.test`, role: roleOf[id], api_keys: [keyOf(id)] })),
  },
];

const person = fc.constantFrom(...people);
const role = fc.nat(6);
const permissions = fc.uniqueArray(fc.constantFrom(...names));
const call = (given: Bench, who: Person, method: string, path: string, body?: object) =>
  given.call(method, path, { key: keyOf(who), ...(body === undefined ? {} : { body }) });

let made = 0;

const create = fc.tuple(person, permissions).map(([who, given]) => ({
  title: `${who} creates a role with ${given}`,
  run: async (model: Roles, service: Bench) => {
    await model.known(0, service);
    const status = model.mayManage(who) ?? 201;
    const answer = await call(service, who, 'POST', '/roles', { name: `Role ${made++}`, permissions: given });
    expect(answer.status).toBe(status);
    if (status === 201) model.roles.push({ id: answer.body.meta.location!.split('/').at(-1)!, permissions: given });
  },
}));
const replace = fc.tuple(person, role, permissions, fc.boolean()).map(([who, at, given, short]) => ({
  title: `${who} replaces the permissions of role ${at} with ${given}`,
  run: async (model: Roles, service: Bench) => {
    const one = await model.known(at, service);
    const status = model.mayManage(who) ?? (one.builtIn ? 403 : undefined) ?? 200;
    const path = `/roles/${one.id}${short ? '/permissions' : ''}`;
    expect((await call(service, who, 'PUT', path, { permissions: given })).status).toBe(status);
    if (status === 200) one.permissions = given;
  },
}));
const remove = fc.tuple(person, role).map(([who, at]) => ({
  title: `${who} removes role ${at}`,
  run: async (model: Roles, service: Bench) => {
    const one = await model.known(at, service);
    const status = model.mayManage(who) ?? (one.builtIn ? 403 : 200);
    expect((await call(service, who, 'DELETE', `/roles/${one.id}`)).status).toBe(status);
    if (status === 200) model.drop(one);
  },
}));
const ways = ['roles', 'users', 'user'] as const;
const assign = fc.tuple(person, person, role, fc.constantFrom(...ways)).map(([who, to, at, way]) => ({
  title: `${who} gives role ${at} to ${to} by /${way}`,
  run: async (model: Roles, service: Bench) => {
    const one = await model.known(at, service);
    const same = model.held.get(to) === one.id;
    const again = same ? (way === 'user' ? 200 : 403) : undefined;
    // A user who isn't an admin can also change a user, so first check whether the user exists.
    const allowed = way === 'user' ? (model.mayManage(who) ?? model.there(to)) : undefined;
    const status = allowed ?? model.mayRule(who) ?? model.there(to) ?? again ?? model.mayLose(to) ?? 200;
    const path = { roles: `/roles/${one.id}/users/${to}`, users: `/users/${to}/roles/${one.id}`, user: `/users/${to}` };
    const answer = await call(service, who, 'PUT', path[way], way === 'user' ? { roles: [one.id] } : {});
    expect(answer.status).toBe(status);
    if (status === 200) model.held.set(to, one.id);
  },
}));
const withdraw = fc.tuple(person, person, role, fc.boolean()).map(([who, from, at, short]) => ({
  title: `${who} removes role ${at} from ${from}`,
  run: async (model: Roles, service: Bench) => {
    const one = await model.known(at, service);
    const other = model.held.get(from) === one.id ? undefined : 403;
    const status = model.mayRule(who) ?? model.there(from) ?? other ?? model.mayLose(from) ?? 200;
    const path = short ? `/users/${from}/roles/${one.id}` : `/roles/${one.id}/users/${from}`;
    expect((await call(service, who, 'DELETE', path)).status).toBe(status);
    if (status === 200) model.held.set(from, null);
  },
}));
const dismiss = fc.tuple(person, person).map(([who, whom]) => ({
  title: `${who} removes ${whom}`,
  run: async (model: Roles, service: Bench) => {
    await model.known(0, service);
    const status = model.mayManage(who) ?? model.there(whom) ?? model.masters(who, whom) ?? model.mayLose(whom) ?? 200;
    expect((await call(service, who, 'DELETE', `/users/${whom}`)).status).toBe(status);
    if (status === 200) model.held.delete(whom);
  },
}));
const look = person.map((who) => ({
  title: `${who} reads all roles`,
  run: async (model: Roles, service: Bench) => {
    await model.known(0, service);
    const status = model.mayManage(who) ?? 200;
    expect(model.admins()).not.toEqual([]);
    for (const one of model.roles) {
      const answer = await call(service, who, 'GET', `/roles/${one.id}?full=true`);
      expect(answer.status).toBe(status);
      if (status !== 200) return;
      const shown = answer.body.data as { users: { id: string }[]; permissions: string[] };
      expect(shown.users.map(({ id }) => id).sort()).toEqual(model.holdersOf(one).sort());
      if (!one.builtIn) expect(shown.permissions.toSorted()).toEqual(one.permissions.toSorted());
    }
  },
}));

it('only permitted users can assign, remove and change roles, and one admin always remains', async () => {
  const steps: fc.Arbitrary<Step<Roles>>[] = [create, replace, remove, assign, assign, withdraw, dismiss, look];
  const options = () => ({ given: { companies } });
  const model = () => new Roles(roleOf, { key: keyOf('ada'), managed });
  await walk(steps, { options, model, walks: 30, steps: 60 });
});
