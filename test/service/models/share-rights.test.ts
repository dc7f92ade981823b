import { describe, expect, it } from 'vitest';
import fc from '../../property.ts';
import type { Bench } from '../service.ts';
import { type Step, walk } from './run-model.ts';
import { type Group, type Holder, type Person, Shares } from './shares.ts';

const people = ['admin', 'ann', 'ben', 'cleo'] as const;
const keyOf = (person: Person): string => Buffer.from(person.padEnd(20, '-')).toString('hex');

const sharer = ['dashboard.library', 'dashboard.tab'].concat(
  ['datasource.create', 'datasource.edit', 'datasource.delete', 'datasource.share'],
  ['klip.build', 'klip.edit', 'klip.delete', 'klip.share', 'tab.build', 'tab.edit', 'tab.delete', 'tab.share'],
);
const userOf = (id: Person): object => ({
  id,
  email: `${id}@acme.test`,
  role: id === 'admin' ? 'Admin' : 'Sharer',
  api_keys: [keyOf(id)],
});
const companies = [
  {
    id: 'acme',
    name: 'Acme',
    plan: 'grow',
    roles: [{ name: 'Sharer', permissions: sharer }],
    users: people.map(userOf),
    groups: [
      { id: 'team', name: 'Team', members: ['ben@acme.test'] },
      { id: 'crew', name: 'Crew', members: [] },
    ],
  },
  {
    id: 'other',
    name: 'Other',
    plan: 'grow',
    users: [{ id: 'other-user', email: 'a@other.test', role: 'Admin', api_keys: ['0'.repeat(40)] }],
    groups: [{ id: 'other-group', name: 'Team', members: [] }],
  },
];

interface Kind {
  readonly path: string;
  /** The status that a user gets for reading the share rights of an asset that they can't see. */
  readonly unseen: number;
  /** If true, a request body names the rights to remove; otherwise, the path does. */
  readonly byBody?: true;
  /** Users' rights are listed, too. */
  readonly users: boolean;
}
const kinds: readonly Kind[] = [
  { path: '/datasources', unseen: 401, users: true },
  { path: '/klips', unseen: 404, byBody: true, users: false },
  { path: '/tabs', unseen: 404, users: true },
];

const person = fc.constantFrom(...people);
const group = fc.constantFrom<Group>('team', 'crew');
const holder: fc.Arbitrary<Holder> = fc.oneof(
  fc.record({ kind: fc.constant('group' as const), id: fc.constantFrom('team', 'crew', 'other-group', 'nowhere') }),
  fc.record({ kind: fc.constant('user' as const), id: fc.constantFrom(...people, 'other-user', 'nobody') }),
);
const which = fc.nat(5);

function stepsFor({ path, unseen, byBody, users }: Kind): fc.Arbitrary<Step<Shares>>[] {
  const call = async (given: Bench, who: Person, method: string, at: string, body?: object) =>
    given.call(method, path + at, { key: keyOf(who), ...(body === undefined ? {} : { body }) });
  const chosen = (model: Shares, at: number) => model.assets[at % Math.max(model.assets.length, 1)];
  const expected = (model: Shares, who: Person, asset: Shares['assets'][number], hidden: number): number => {
    if (!model.sees(who, asset)) return hidden;
    return model.changes(who, asset) ? 200 : 403;
  };

  const create = person.map((who) => ({
    title: `${who} creates one`,
    run: async (model: Shares, given: Bench) => {
      const { body } = await call(given, who, 'POST', '', { name: 'One' });
      model.add(who, body.meta.location!.split('/').at(-1)!);
    },
  }));
  const share = fc.tuple(person, which, holder, fc.boolean()).map(([who, at, to, canEdit]) => ({
    title: `${who} shares ${at} with ${to.kind} ${to.id}${canEdit ? ' to be changed' : ''}`,
    run: async (model: Shares, given: Bench) => {
      const asset = chosen(model, at);
      if (asset === undefined) return;
      const allowed = expected(model, who, asset, unseen);
      const status = allowed === 200 ? model.share(asset, to, canEdit) : allowed;
      const right = { [`${to.kind}_id`]: to.id, can_edit: canEdit };
      const body = to.kind === 'group' ? { groups: [right] } : { groups: [], users: [right] };
      expect((await call(given, who, 'PUT', `/${asset.id}/share-rights`, body)).status).toBe(status);
    },
  }));
  const unshare = fc.tuple(person, which, holder).map(([who, at, from]) => ({
    title: `${who} ends sharing ${at} with ${from.kind} ${from.id}`,
    run: async (model: Shares, given: Bench) => {
      const asset = chosen(model, at);
      if (asset === undefined) return;
      const allowed = expected(model, who, asset, unseen);
      const status = allowed === 200 ? model.unshare(asset, from) : allowed;
      const right = { [`${from.kind}_id`]: from.id };
      const body = from.kind === 'group' ? { groups: [right] } : { groups: [], users: [right] };
      const answer = byBody
        ? await call(given, who, 'DELETE', `/${asset.id}/share-rights`, body)
        : await call(given, who, 'DELETE', `/${asset.id}/share-rights/${from.id}?type=${from.kind}`);
      expect(answer.status).toBe(status);
    },
  }));
  const look = fc.tuple(person, which).map(([who, at]) => ({
    title: `${who} reads all and ${at}`,
    run: async (model: Shares, given: Bench) => {
      const listed = Object.values((await call(given, who, 'GET', '?limit=100')).body.data)[0] as { id: string }[];
      expect(listed.map(({ id }) => id).sort()).toEqual(model.seenBy(who).sort());
      const asset = chosen(model, at);
      if (asset === undefined) return;
      const seen = model.sees(who, asset);
      expect((await call(given, who, 'GET', `/${asset.id}`)).status).toBe(seen ? 200 : 404);
      const rights = await call(given, who, 'GET', `/${asset.id}/share-rights`);
      expect(rights.status).toBe(seen ? 200 : unseen);
      if (!seen) return;
      const shown = rights.body.data as { [list: string]: { [field: string]: string & boolean }[] };
      const pairs = (list: string, id: string) => shown[list]?.map((one) => [one[id], one.can_edit]).sort();
      expect(pairs('share_rights', 'group_id')).toEqual(model.rightsOf(asset, 'group'));
      expect(pairs('user_share_rights', 'user_id')).toEqual(users ? model.rightsOf(asset, 'user') : undefined);
    },
  }));
  const change = fc.tuple(person, which, fc.boolean()).map(([who, at, removes]) => ({
    title: `${who} ${removes ? 'removes' : 'renames'} ${at}`,
    run: async (model: Shares, given: Bench) => {
      const asset = chosen(model, at);
      if (asset === undefined) return;
      const status = expected(model, who, asset, 404);
      const answer = await (removes
        ? call(given, who, 'DELETE', `/${asset.id}`)
        : call(given, who, 'PUT', `/${asset.id}`, { name: 'Other' }));
      expect(answer.status).toBe(status);
      if (removes && status === 200) model.remove(asset);
    },
  }));
  const move = fc.tuple(person, group, fc.boolean()).map(([who, to, joins]) => ({
    title: `${who} ${joins ? 'joins' : 'leaves'} ${to}`,
    run: async (model: Shares, given: Bench) => {
      const members = model.members.get(to);
      const there = members !== undefined && (joins || members.has(who));
      const answer = await given.call(joins ? 'PUT' : 'DELETE', `/groups/${to}/users/${who}`, { key: keyOf('admin') });
      expect(answer.status).toBe(there ? 200 : 404);
      if (joins) members?.add(who);
      else members?.delete(who);
    },
  }));
  const dissolve = group.map((gone) => ({
    title: `${gone} is deleted`,
    run: async (model: Shares, given: Bench) => {
      const status = model.members.has(gone) ? 200 : 404;
      expect((await given.call('DELETE', `/groups/${gone}`, { key: keyOf('admin') })).status).toBe(status);
      model.dissolve(gone);
    },
  }));
  return [create, share, share, unshare, look, look, change, move, dissolve];
}

describe.each(kinds)('sharing $path', (kind) => {
  it('grants the same access as the model', async () => {
    const options = () => ({ given: { companies } });
    await walk(stepsFor(kind), { options, model: () => new Shares(), walks: 25, steps: 60 });
  });
});
