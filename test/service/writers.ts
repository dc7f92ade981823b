import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { keys } from './service.ts';

/** A seeded random number generator (mulberry32) for values from 0 up to 1. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Told {
  readonly status: number;
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly location: string;
}

/** Calls as Acme's admin. Throws if there is no response or the response isn't a success. */
export class Api {
  readonly #url: string;
  readonly #agent = new Agent({ connections: 60, pipelining: 1 });

  constructor(url: string) {
    this.#url = url;
  }

  async call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object | string): Promise<Told> {
    const sent = body === undefined ? null : typeof body === 'string' || body instanceof Readable ? body : json(body);
    const answer = await request(this.#url + path, {
      dispatcher: this.#agent,
      method,
      headers: { 'kf-api-key': keys.acmeAdmin },
      body: sent,
    });
    const text = await answer.body.text();
    const told = text.startsWith('{"meta"') ? (JSON.parse(text) as { meta: Meta; data?: Told['data'] }) : undefined;
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return { status: answer.statusCode, text, data: told?.data ?? {}, location: told?.meta.location ?? '' };
  }

  async data(path: string): Promise<Record<string, unknown>> {
    return (await this.call('GET', path)).data;
  }

  /** All items of a list. */
  async all(path: string, key: string): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    for (;;) {
      const page = (await this.data(`${path}?limit=100&offset=${items.length}`))[key] as Record<string, unknown>[];
      items.push(...page);
      if (page.length < 100) return items;
    }
  }

  async create(path: string, body: object): Promise<string> {
    return (await this.call('POST', path, body)).location.split('/').at(-1)!;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

interface Meta {
  readonly location?: string;
}

const json = (body: object): string => JSON.stringify(body);

/** Something that has a version, which each write increments. */
export interface Cell {
  /** Writes this version; resolves once the service has confirmed it. */
  write(api: Api, version: number): Promise<unknown>;
  /** What the service shows. */
  read(api: Api): Promise<unknown>;
  /** What the service shows at this version. Version 0 is the initial setup. */
  shown(version: number): unknown;
}

/** One writer: the last version that the service confirmed, and the one sent after it. */
export class Writer {
  readonly name: string;
  readonly #cell: Cell;
  #sure = 0;
  #sent = 0;

  constructor(name: string, cell: Cell) {
    this.name = name;
    this.#cell = cell;
  }

  get answered(): number {
    return this.#sure;
  }

  /** Writes one version after another until the service is gone. */
  async run(api: Api, isGone: () => boolean): Promise<void> {
    while (!isGone()) {
      try {
        this.#sent = this.#sure + 1;
        await this.#cell.write(api, this.#sent);
        this.#sure = this.#sent;
      } catch (thrown) {
        if (isGone()) return;
        throw thrown;
      }
    }
  }

  /** What is shown and what may be shown: the last confirmed version, or the one that got no response. */
  async seen(api: Api): Promise<{ shown: unknown; allowed: unknown[] }> {
    const versions = [...new Set([this.#sure, this.#sent])];
    return { shown: await this.#cell.read(api), allowed: versions.map((version) => this.#cell.shown(version)) };
  }
}

const numbersTo = (version: number): number[] => Array.from({ length: version }, (_none, i) => i + 1);

/** Items that are created one after another, read from the list and individually. */
function creations(given: {
  readonly list: string;
  readonly key: string;
  readonly prefix: string;
  readonly body: (name: string) => object;
  /** What a complete item shows. */
  readonly whole: (name: string) => object;
  readonly look: (api: Api, id: string) => Promise<object>;
}): Cell {
  return {
    write: (api, version) => api.create(given.list, given.body(`${given.prefix}${version}`)),
    async read(api) {
      const all = await api.all(given.list, given.key);
      const own = all.filter(({ name, email }) => String(name ?? email).startsWith(given.prefix));
      return Promise.all(own.map(({ id }) => given.look(api, String(id))));
    },
    shown: (version) => numbersTo(version).map((number) => given.whole(`${given.prefix}${number}`)),
  };
}

type Kind = (api: Api, label: string, random: () => number) => Promise<Cell>;

const sources: Kind = async (_api, label) =>
  creations({
    list: '/datasources',
    key: 'datasources',
    prefix: `${label} š🐎 `,
    body: (name) => ({ name, description: name, format: 'csv', properties: { a: name, b: [name] } }),
    whole: (name) => ({ name, description: name, format: 'csv', properties: { a: name, b: [name] }, instances: 1 }),
    async look(api, id) {
      const { name, description, format } = await api.data(`/datasources/${id}`);
      const { datasources } = await api.data(`/datasource-instances?datasource_id=${id}`);
      const { properties } = await api.data(`/datasource-instances/${id}/properties`);
      return { name, description, format, properties, instances: (datasources as unknown[]).length };
    },
  });

const clients: Kind = async (_api, label) =>
  creations({
    list: '/clients',
    key: 'clients',
    prefix: `${label} `,
    body: (name) => ({ name, seats: 3 }),
    whole: (name) => ({ name, seats: 3, roles: 3 }),
    async look(api, id) {
      const { name, seats } = await api.data(`/clients/${id}`);
      const { roles } = await api.data(`/roles?client_id=${id}`);
      return { name, seats, roles: (roles as unknown[]).length };
    },
  });

const klips: Kind = async (api, label) => {
  const source = await api.create('/datasources', { name: 'used' });
  const schema = (name: string) => ({ title: name, components: [], workspace: { datasources: [source] } });
  return creations({
    list: '/klips',
    key: 'klips',
    prefix: `${label} `,
    body: (name) => ({ name, schema: schema(name) }),
    whole: (name) => ({ name, title: name, datasources: [{ id: source, name: 'used' }] }),
    async look(api, id) {
      const { name, datasources } = await api.data(`/klips/${id}?full=true`);
      const { schema } = (await api.data(`/klips/${id}/schema`)) as { schema: { title: string } };
      return { name, title: schema.title, datasources };
    },
  });
};

/** JSON text for this version, between a kilobyte and two megabytes long. */
function documentOf(version: number, seed: number): string {
  const size = Math.floor(1_000 + randomOf(seed + version)() * 2_000_000);
  return `[${version},"${'x'.repeat(size)}"]`;
}

const digest = (text: string): string => `${text.length} bytes, ${createHash('sha256').update(text).digest('hex')}`;

async function* inPieces(text: string, random: () => number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; ) {
    const length = 1 + Math.floor(random() * 200_000);
    yield Buffer.from(text.slice(at, at + length));
    at += length;
    if (random() < 0.3) await wait(1);
  }
}

const uploads: Kind = async (api, _label, random) => {
  const id = await api.create('/datasources', { name: 'uploaded' });
  const seed = Math.floor(random() * 1_000_000);
  await api.call('PUT', `/datasources/${id}/data`, documentOf(0, seed));
  return {
    write: (to, version) =>
      to.call('PUT', `/datasource-instances/${id}/data`, Readable.from(inPieces(documentOf(version, seed), random))),
    read: async (from) => digest((await from.call('GET', `/datasource-instances/${id}/data?raw=true`)).text),
    shown: (version) => digest(documentOf(version, seed)),
  };
};

const changes: Kind = async (api) => {
  const shown = (version: number) => ({
    name: `name ${version}`,
    description: `description ${version}`,
    refresh_interval: (version + 1) * 86_400,
  });
  const id = await api.create('/datasources', { no_refresh: true, ...shown(0) });
  return {
    write: (to, version) => to.call('PUT', `/datasources/${id}`, shown(version)),
    async read(from) {
      const { name, description, refresh_interval } = await from.data(`/datasources/${id}`);
      return { name, description, refresh_interval };
    },
    shown,
  };
};

const rights: Kind = async (api, label) => {
  const id = await api.create('/datasources', { name: 'shared' });
  const groups = ['acme-team', await api.create('/groups', { name: label })];
  const rightsAt = (version: number) => ({
    groups: groups.map((group_id) => ({ group_id, can_edit: version % 2 === 1 })),
    users: ['acme-viewer', 'acme-editor'].map((user_id) => ({ user_id, can_edit: version % 2 === 1 })),
  });
  await api.call('PUT', `/datasources/${id}/share-rights`, rightsAt(0));
  return {
    write: (to, version) => to.call('PUT', `/datasources/${id}/share-rights`, rightsAt(version)),
    async read(from) {
      const { share_rights, user_share_rights } = await from.data(`/datasources/${id}/share-rights`);
      return [share_rights, user_share_rights].flatMap((held) =>
        (held as { can_edit: boolean }[]).map((one) => one.can_edit),
      );
    },
    shown: (version) => Array<boolean>(4).fill(version % 2 === 1),
  };
};

const layouts: Kind = async (api) => {
  const [tab, klip] = [await api.create('/tabs', { name: 'Board' }), await api.create('/klips', { name: 'Placed' })];
  const placing = { klips: [1, 2, 3, 4].map((position) => ({ klip_id: klip, position })) };
  const { data } = await api.call('PUT', `/tabs/${tab}/klip-instances`, placing);
  const ids = (data.klip_instances as { id: string }[]).map(({ id }) => id);
  const layout = (version: number) => ({
    type: '50_50',
    state: Object.fromEntries(ids.map((id, i) => [id, { region: String(1 + ((version + i) % 2)), idx: i }])),
  });
  const seen: unknown[] = [];
  for (const version of [1, 0]) {
    await api.call('PUT', `/tabs/${tab}/layout`, layout(version));
    seen[version] = await api.data(`/tabs/${tab}/layout`);
  }
  return {
    write: (to, version) => to.call('PUT', `/tabs/${tab}/layout`, layout(version)),
    read: (from) => from.data(`/tabs/${tab}/layout`),
    shown: (version) => seen[version % 2],
  };
};

const properties: Kind = async (api) => {
  const map = (version: number) => Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`p${n}`, { version, n }]));
  const id = await api.create('/datasources', { name: 'connected', properties: map(0) });
  return {
    write: (to, version) => to.call('PUT', `/datasource-instances/${id}/properties`, { properties: map(version) }),
    read: async (from) => (await from.data(`/datasource-instances/${id}/properties`)).properties,
    shown: map,
  };
};

/** A user's property and, in the same step, the instance of the source that refers to it. */
const followers: Kind = async (api, label) => {
  const user = await api.create('/users', { email: `${label.replaceAll(' ', '-')}@acme.test` });
  const property = `region ${label}`;
  const region = (version: number) => ({ properties: { [property]: `r${version}` } });
  await api.call('PUT', `/users/${user}/properties`, region(0));
  const id = await api.create('/datasources', { name: 'dynamic', properties: { url: `{props.${property}}` } });
  return {
    write: (to, version) => to.call('PUT', `/users/${user}/properties`, region(version)),
    async read(from) {
      const own = (await from.data(`/users/${user}/properties`)).properties as Record<string, string>;
      const { datasources } = await from.data(`/datasource-instances?datasource_id=${id}`);
      const urls = await Promise.all(
        (datasources as { id: string }[]).map(
          async (one) =>
            ((await from.data(`/datasource-instances/${one.id}/properties`)).properties as { url: string }).url,
        ),
      );
      return [own[property], urls.toSorted()];
    },
    shown: (version) => [`r${version}`, ['', `r${version}`]],
  };
};

/** Odd versions exist; even ones are deleted, together with everything that depends on them. */
const comings: Kind = async () => {
  let id = '';
  return {
    async write(to, version) {
      if (version % 2 === 0) return to.call('DELETE', `/datasources/${id}`);
      id = await to.create('/datasources', { name: 'coming', properties: { a: 1 } });
      return id;
    },
    async read(from) {
      if (id === '') return false;
      const looks = ['/datasources/', '/datasource-instances/'].map((path) => from.call('GET', path + id));
      const there = (await Promise.allSettled(looks)).map(({ status }) => status === 'fulfilled');
      return there.every(Boolean) ? true : there.some(Boolean) ? 'half' : false;
    },
    // Without a response, the ID of a created item isn't known, so it can't be looked up; the lists of the other kinds
    // cover that case.
    shown: (version) => version % 2 === 1,
  };
};

const kinds = { sources, clients, klips, uploads, changes, rights, layouts, properties, followers, comings };

/** This many writers of every kind, each with its own items. */
export async function makeWriters(api: Api, each: number, random: () => number): Promise<Writer[]> {
  const wanted = Object.entries(kinds).flatMap(([name, kind]) =>
    Array.from({ length: each }, (_none, i) => ({ label: `${name} ${i}`, kind })),
  );
  const writers: Writer[] = [];
  for (const { label, kind } of wanted) writers.push(new Writer(label, await kind(api, label, random)));
  return writers;
}
