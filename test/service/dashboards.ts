import { request } from 'undici';
import { permissions } from '../../src/service/auth/permissions.ts';
import { type Answer, type Bench, bench, fixtures, type Sent } from './service.ts';

/** A user with all permissions, but only for what they can see. */
export const builderKey = 'a7'.repeat(20);

const [acme, ...others] = fixtures.companies;
const builder = {
  id: 'acme-builder',
  email: 'bo@acme.test',
  first_name: 'Bo',
  role: 'Builder',
  api_keys: [builderKey],
};

/** A service with a user "builder", the only member of the group acme-builders. */
export const builderBench = (): Promise<Bench> =>
  bench({
    given: {
      companies: [
        {
          ...acme!,
          roles: [
            ...acme!.roles!,
            { name: 'Builder', permissions: permissions.filter((name) => !name.startsWith('admin.')) },
          ],
          users: [...acme!.users!, builder],
          groups: [...acme!.groups!, { id: 'acme-builders', name: 'Builders', members: [builder.email] }],
        },
        ...others,
      ],
    },
  });

const idIn = (answer: Answer): string => answer.body.meta.location!.split('/').at(-1)!;

/** A new dashboard, by default as Acme's admin. */
export async function createTab(given: Bench, body: object = {}, sent: Sent = {}): Promise<string> {
  return idIn(await given.call('POST', '/tabs', { ...sent, body: { name: 'Sales', ...body } }));
}

/** A new Klip, by default as Acme's admin. */
export async function createKlip(given: Bench, body: object = {}, sent: Sent = {}): Promise<string> {
  return idIn(await given.call('POST', '/klips', { ...sent, body: { name: 'Orders', ...body } }));
}

export interface PlacedKlip {
  readonly id: string;
  readonly klip_id: string;
  readonly name: string;
}

/** Adds Klips to a dashboard; returns the new instances. */
export async function placeKlips(given: Bench, tab: string, klips: object[], sent: Sent = {}): Promise<PlacedKlip[]> {
  const answer = await given.call('PUT', `/tabs/${tab}/klip-instances`, { ...sent, body: { klips } });
  return answer.body.data.klip_instances as PlacedKlip[];
}

export const linksPath = '/dashboard-published-links';

/** A new published link to a dashboard. */
export async function publish(given: Bench, tab: string, body: object = {}): Promise<string> {
  return idIn(await given.call('POST', `${linksPath}/${tab}`, { body: { name: 'For all', ...body } }));
}

export const linkOf = async (given: Bench, id: string): Promise<Record<string, unknown>> =>
  (await given.call('GET', `${linksPath}/${id}`)).body.data;

/** The response to a viewer without an account who opens a link's URL. */
export async function look(
  given: Bench,
  id: string,
  {
    query = '',
    headers = {},
    method = 'GET',
  }: { query?: string; headers?: Record<string, string>; method?: string } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const answer = await request(`${given.origin}/published/${id}/any${query}`, { method: method as 'GET', headers });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}
