import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { permissions } from '../../src/service/auth/permissions.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import { startService } from '../../src/service/service.ts';
import { type Answer, Bench, keys, fixtures as people, type Sent } from '../service/service.ts';
import { fieldsOf, validFields } from './values.ts';

/** The owner of the assets. */
export interface Owner {
  readonly key: string;
  readonly client?: string;
}

export const own: Owner = { key: keys.acmeAdmin };
export const other: Owner = { key: keys.otherAdmin };
export const client: Owner = { key: keys.acmeAdmin, client: 'bakery' };

/** A valid call of an endpoint, to be sent as it is or to be broken. */
export interface Ready {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
}

type Given = (world: World, owner: Owner, params: Readonly<Record<string, string>>) => Promise<unknown>;

/** Values that no schema can determine: IDs of things that must exist. */
const fieldMakers: Readonly<Record<string, Given>> = {
  tab_id: (world, owner) => world.create('/tabs', owner),
  tab_ids: async (world, owner) => [await world.create('/tabs', owner)],
  dashboard_id: (world, owner) => world.create('/tabs', owner),
  klip_id: (world, owner) => world.create('/klips', owner),
  group_id: (world, owner) => world.create('/groups', owner),
  user_id: (world, owner) => world.create('/users', owner),
  role: (world, owner) => world.create('/roles', owner),
  roles: async (world, owner) => [await world.create('/roles', owner)],
  datasources: async (world, owner) => [await world.create('/datasources', owner)],
  client_id: async (world, owner) => (owner === other ? world.create('/clients', owner) : 'bakery'),
  name: async (world) => `Sample ${world.next()}`,
  email: async (world) => `sample-${world.next()}@acme.test`,
  permissions: async () => ['dashboard.library'],
};

/** What a path's last parameter refers to if no POST creates it. */
const entities: Readonly<Record<string, string>> = { user: '/users', group: '/groups', role: '/roles' };

/** A service with companies and, for each set of permissions that an endpoint requires, a role without them. */
export class World {
  readonly bench: Bench;
  readonly #endpoints: readonly Endpoint[];
  readonly #folder: string;
  #made = 0;

  private constructor(bench: Bench, endpoints: readonly Endpoint[], folder: string) {
    this.bench = bench;
    this.#endpoints = endpoints;
    this.#folder = folder;
  }

  static async start(endpoints: readonly Endpoint[]): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-conformance-'));
    const file = join(folder, 'fixtures.json');
    await writeFile(file, JSON.stringify(withRoles(endpoints)));
    const service = await startService({ data: 'memory', limits: false, fixtures: file });
    return new World(new Bench(service), endpoints, folder);
  }

  async stop(): Promise<void> {
    await this.bench.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  next(): number {
    return ++this.#made;
  }

  /** Everything that a call of this endpoint needs, newly created for this owner. */
  async ready(endpoint: Endpoint, owner: Owner): Promise<Ready> {
    const params = await this.#params(endpoint, owner);
    const query = await this.#fields(fieldsOf(endpoint.query), owner, params);
    const special = prepared[titleOf(endpoint)];
    const extra = special === undefined ? {} : ((await special(this, owner, params)) as Partial<Ready>);
    const body = typeof endpoint.body === 'object' ? await this.#fields(fieldsOf(endpoint.body), owner, params) : {};
    const asText = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return { params, query: { ...asText, ...extra.query }, body: { ...body, ...extra.body } };
  }

  /** Sends the call, using the prepared value for whatever isn't set. */
  send(
    endpoint: Endpoint,
    ready: Partial<Ready>,
    sent: Sent & { method?: string; owner?: Owner } = {},
  ): Promise<Answer> {
    const { owner = own, method = endpoint.method, ...rest } = sent;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ready.params?.[name] ?? 'unknown');
    const query = new URLSearchParams({
      ...ready.query,
      ...(owner.client === undefined ? {} : { client_id: owner.client }),
    }).toString();
    const json = typeof endpoint.body === 'object' ? { body: ready.body ?? {} } : {};
    const bytes = endpoint.body === 'data' ? { body: '[1]' } : {};
    return this.bench.call(method, query === '' ? path : `${path}?${query}`, {
      key: owner.key,
      ...json,
      ...bytes,
      ...rest,
    });
  }

  /** A new item of a collection, created by the declared POST. */
  async create(collection: string, owner: Owner, params: Readonly<Record<string, string>> = {}): Promise<string> {
    const endpoint = this.#endpoint('POST', collection);
    if (endpoint === undefined) throw new Error(`no declared POST creates an item in ${collection}`);
    const body = await this.#fields(
      fieldsOf(endpoint.body as Exclude<Endpoint['body'], 'data' | undefined>),
      owner,
      params,
    );
    const answer = await this.send(endpoint, { params, body }, { owner });
    if (answer.status !== 201) throw new Error(`creating an item in ${collection} failed: ${answer.text}`);
    return answer.body.meta.location!.split('/').at(-1)!;
  }

  #endpoint(method: string, path: string): Endpoint | undefined {
    return this.#endpoints.find((one) => one.method === method && one.path === path);
  }

  async #params(endpoint: Endpoint, owner: Owner): Promise<Record<string, string>> {
    const params: Record<string, string> = {};
    for (const [all, name] of endpoint.path.matchAll(/\{(\w+)\}/g)) {
      const before = endpoint.path.slice(0, endpoint.path.indexOf(all));
      params[name!] = await this.#param({ endpoint, before: before.slice(0, -1), name: name! }, owner, params);
    }
    return params;
  }

  async #param(
    { endpoint, before, name }: { endpoint: Endpoint; before: string; name: string },
    owner: Owner,
    params: Readonly<Record<string, string>>,
  ): Promise<string> {
    const special = pathMakers[`${endpoint.method} ${before}/{${name}}`] ?? pathMakers[`${before}/{${name}}`];
    if (special !== undefined) return (await special(this, owner, params)) as string;
    const entity = entities[name.replace(/_id$/, '')];
    if (entity === undefined || this.#endpoint('POST', before) !== undefined) return this.create(before, owner, params);
    const id = await this.create(entity, owner);
    const joining = this.#endpoint('PUT', `${before}/{${name}}`);
    if (endpoint.method === 'DELETE' && joining !== undefined) {
      const answer = await this.send(joining, { params: { ...params, [name]: id } }, { owner });
      if (answer.status >= 300) throw new Error(`preparing ${titleOf(endpoint)} failed: ${answer.text}`);
    }
    return id;
  }

  async #fields(
    schema: ReturnType<typeof fieldsOf>,
    owner: Owner,
    params: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>> {
    const made = new Map<string, unknown>();
    const text = JSON.stringify(schema);
    for (const [name, maker] of Object.entries(fieldMakers)) {
      if (isRequiredSomewhere(text, name)) made.set(name, await maker(this, owner, params));
    }
    return validFields(schema, (name) => made.get(name));
  }
}

/**
 * An object that is created but not used costs only calls, so it's enough that any list of required fields mentions the
 * name.
 */
function isRequiredSomewhere(text: string, name: string): boolean {
  return [...text.matchAll(/"required":\[([^\]]*)\]/g)].some(([, names]) => names!.includes(`"${name}"`));
}

export const titleOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>): string => `${method} ${path}`;

/** A key for the user whose role has all permissions except these. */
export const keyWithout = (endpoint: Endpoint): string =>
  Buffer.from(`without ${endpoint.permission.join()}`).toString('hex').padEnd(40, '0').slice(0, 190);

/** A key for the user whose role has only this permission. */
export const keyWithOnly = (permission: string): string => Buffer.from(`only ${permission}`).toString('hex');

function withRoles(endpoints: readonly Endpoint[]): object {
  const asked = new Map(endpoints.map((endpoint) => [keyWithout(endpoint), endpoint.permission]));
  const without = [...asked].map(([key, names], i) => ({
    role: { name: `Without ${i}`, permissions: permissions.filter((name) => !names.includes(name)) },
    user: { email: `without-${i}@acme.test`, role: `Without ${i}`, api_keys: [key] },
  }));
  const single = [...new Set(endpoints.flatMap(({ permission }) => permission))].map((name) => ({
    role: { name: `Only ${name}`, permissions: [name] },
    user: { email: `only-${name}@acme.test`, role: `Only ${name}`, api_keys: [keyWithOnly(name)] },
  }));
  const all = [...without, ...single];
  const [acme, ...others] = people.companies;
  const roles = [...(acme!.roles ?? []), ...all.map(({ role }) => role)];
  return { companies: [{ ...acme!, roles, users: [...acme!.users, ...all.map(({ user }) => user)] }, ...others] };
}

const source: Given = (world, owner) => world.create('/datasources', owner);

async function answered(
  world: World,
  call: { method: string; path: string; owner: Owner; body: object },
): Promise<Answer> {
  const { method, path, owner, body } = call;
  const query = owner.client === undefined ? '' : `?client_id=${owner.client}`;
  const answer = await world.bench.call(method, path + query, { key: owner.key, body });
  if (answer.status >= 300) throw new Error(`${method} ${path} failed: ${answer.text}`);
  return answer;
}

const shared =
  (collection: string): Given =>
  async (world, owner, { id }) => {
    const holder = await world.create('/groups', owner);
    const body = { groups: [{ group_id: holder, can_edit: true }] };
    await answered(world, { method: 'PUT', path: `${collection}/${id}/share-rights`, owner, body });
    return holder;
  };

/** Parameters whose values need a function of their own. */
const pathMakers: Readonly<Record<string, Given>> = {
  '/datasource-instances/{id}': source,
  '/clients/{id}/share-rights/{group}': async (world, owner, { id }) => {
    const group_id = await world.create('/groups', owner);
    await answered(world, {
      method: 'PUT',
      path: `/clients/${id}/share-rights`,
      owner,
      body: { groups: [{ group_id }] },
    });
    return group_id;
  },
  '/datasources/{id}/share-rights/{holder}': shared('/datasources'),
  '/klips/{id}/share-rights/{holder}': shared('/klips'),
  '/tabs/{id}/share-rights/{holder}': shared('/tabs'),
  '/tabs/{id}/klip-instances/{instance}': async (world, owner, { id }) => {
    const body = { klips: [{ klip_id: await world.create('/klips', owner) }] };
    const answer = await answered(world, { method: 'PUT', path: `/tabs/${id}/klip-instances`, owner, body });
    return (answer.body.data.klip_instances as { id: string }[])[0]!.id;
  },
  '/users/{id}/tab-instances/{instance}': async (world, owner, { id }) => {
    const body = { tab_ids: [await world.create('/tabs', owner)] };
    const answer = await answered(world, { method: 'PUT', path: `/users/${id}/tab-instances`, owner, body });
    return (answer.body.data.tab_instances as { id: string }[])[0]!.id;
  },
  'POST /dashboard-published-links/{id}': (world, owner) => world.create('/tabs', owner),
  '/dashboard-published-links/{id}': async (world, owner) => {
    const tab = await world.create('/tabs', owner);
    return world.create('/dashboard-published-links/{id}', owner, { id: tab });
  },
};

/** What must exist or be sent for a call to succeed. */
const prepared: Readonly<Record<string, Given>> = {
  'DELETE /klips/{id}/share-rights': async (world, owner, params) => {
    const group_id = await shared('/klips')(world, owner, params);
    return { body: { groups: [{ group_id }] } };
  },
  'GET /datasource-instances/{id}/data': async (world, owner, { id }) => {
    const query = owner.client === undefined ? '' : `?client_id=${owner.client}`;
    await world.bench.call('PUT', `/datasource-instances/${id}/data${query}`, { key: owner.key, body: '[1]' });
    return {};
  },
  'GET /datasources/{id}/data': async (world, owner, { id }) => {
    const query = owner.client === undefined ? '' : `?client_id=${owner.client}`;
    await world.bench.call('PUT', `/datasources/${id}/data${query}`, { key: owner.key, body: '[1]' });
    return {};
  },
  'DELETE /datasources/{id}/properties': async (world, owner, { id }) => {
    const body = { properties: { a: 'b' } };
    await answered(world, { method: 'PUT', path: `/datasources/${id}/properties`, owner, body });
    return { query: { name: 'a' } };
  },
  'DELETE /datasource-instances/{id}/properties': async (world, owner, { id }) => {
    const body = { properties: { a: 'b' } };
    await answered(world, { method: 'PUT', path: `/datasource-instances/${id}/properties`, owner, body });
    return { query: { name: 'a' } };
  },
  'DELETE /clients/{id}/properties': async (world, owner, { id }) => {
    const body = { properties: { a: 'b' } };
    await answered(world, { method: 'PUT', path: `/clients/${id}/properties`, owner, body });
    return { query: { name: 'a' } };
  },
  'DELETE /users/{id}/properties': async (world, owner, { id }) => {
    const body = { properties: { a: 'b' } };
    await answered(world, { method: 'PUT', path: `/users/${id}/properties`, owner, body });
    return { query: { name: 'a' } };
  },
};
