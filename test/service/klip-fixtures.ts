import { type Answer, type Bench, fixtures, type Sent } from './service.ts';

const roles = {
  Builder: [
    'dashboard.library',
    'klip.build',
    'klip.edit',
    'klip.delete',
    'klip.share',
    'klip.import',
    'client.access',
  ],
  Writer: ['dashboard.library', 'dashboard.annotation.view', 'dashboard.annotation.edit'],
  Librarian: ['dashboard.library'],
  Agent: ['client.access'],
} as const;

/** Keys of users at Acme whose roles administer nothing. Mo and Wes are in the team; Bo isn't. */
export const people = {
  bo: 'b1'.repeat(20),
  mo: 'b2'.repeat(20),
  wes: 'b3'.repeat(20),
  wilma: 'b4'.repeat(20),
  lib: 'b5'.repeat(20),
  agent: 'b6'.repeat(20),
} as const;

const user = (id: keyof typeof people, role: keyof typeof roles, name = ''): object => ({
  id: `acme-${id}`,
  email: `${id}@acme.test`,
  first_name: name,
  role,
  api_keys: [people[id]],
});

/** The usual companies, with these users in Acme. */
export function withPeople(): object {
  const [acme, ...others] = fixtures.companies;
  const extended = {
    ...acme,
    roles: [...acme!.roles!, ...Object.entries(roles).map(([name, permissions]) => ({ name, permissions }))],
    users: [
      ...acme!.users,
      user('bo', 'Builder'),
      user('mo', 'Builder'),
      user('wes', 'Writer', 'Wes'),
      user('wilma', 'Writer', 'Wilma'),
      user('lib', 'Librarian'),
      user('agent', 'Agent'),
    ],
    groups: [{ id: 'acme-team', name: 'Team', members: ['mo@acme.test', 'wes@acme.test'] }],
  };
  return { companies: [extended, ...others] };
}

export const lastOf = (answer: Answer): string => answer.body.meta.location!.split('/').at(-1)!;

export const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];

/** The ID of a new Klip. */
export async function newKlip(given: Bench, body: object = {}, sent: Sent = {}): Promise<string> {
  return lastOf(await given.call('POST', '/klips', { ...sent, body: { name: 'Sales', ...body } }));
}

/** A schema that names these data sources. */
export function schemaNaming(...datasources: string[]): Record<string, unknown> {
  return { title: 'Chart', components: [{ type: 'label' }], workspace: { datasources, dimensions: { w: 300 } } };
}

export function shareWithTeam(given: Bench, id: string, can_edit = false): Promise<Answer> {
  return given.call('PUT', `/klips/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team', can_edit }] } });
}
