import { expect } from 'vitest';
import type { Endpoint } from '../../src/service/endpoint.ts';
import { type Answer, keys } from '../service/service.ts';
import { collections, idFields } from './foreign-ids.ts';
import { fieldsOf, missing, wrongTexts, wrongTypes } from './values.ts';
import { client, keyWithOnly, keyWithout, other, own, type World } from './world.ts';

/** Something that must be true for every endpoint, or for every endpoint of one kind. */
export interface Check {
  readonly title: string;
  readonly appliesTo: (endpoint: Endpoint) => boolean;
  readonly run: (world: World, endpoint: Endpoint) => Promise<void>;
}

const all = (): boolean => true;
const hasFields = ({ body }: Endpoint): boolean => typeof body === 'object';
const namesIds = ({ path }: Endpoint): boolean => path.includes('{');
const isList = ({ query }: Endpoint): boolean => 'limit' in query;
const takesQuery = ({ query }: Endpoint): boolean => Object.keys(query).length > 0;

function expectError(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body?.meta.error_code], answer.text).toEqual([status, code]);
}

function expectDone(answer: Answer, endpoint: Endpoint): void {
  expect(answer.status, answer.text).toBe(endpoint.answer.status);
}

function expectNamed(answer: Answer, field: string): void {
  expectError(answer, 400, 'bad_request');
  expect(answer.body.meta.error_desc).toContain(`"${field}`);
}

const paramsOf = ({ path }: Endpoint): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/** A refusal's message, without the IDs in it. */
const said = (answer: Answer, ids: readonly string[]): unknown => [
  answer.status,
  answer.body.meta.error_code,
  ids.reduce((text, id) => text.replaceAll(id, '<id>'), answer.body.meta.error_desc ?? ''),
];

const unknownId = 'f'.repeat(32);

export const checks: readonly Check[] = [
  {
    title: 'works as declared',
    appliesTo: all,
    run: async (world, endpoint) => expectDone(await world.send(endpoint, await world.ready(endpoint, own)), endpoint),
  },
  {
    title: 'is refused without a key and with a wrong one, before anything else is checked',
    appliesTo: all,
    run: async (world, endpoint) => {
      expectError(await world.send(endpoint, {}, { key: null }), 401, 'auth_not_provided');
      expectError(await world.send(endpoint, {}, { key: 'f'.repeat(40) }), 401, 'auth_fail');
    },
  },
  {
    title: 'is refused for a role that has every other permission',
    appliesTo: ({ permission }) => permission.length > 0,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      const answer = await world.send(endpoint, ready, { key: keyWithout(endpoint) });
      if (endpoint.lacking === 'forbidden') expectError(answer, 403, 'forbidden');
      else expectError(answer, 401, 'permission_denied');
      for (const name of endpoint.permission) expect(answer.body.meta.error_desc).toContain(name);
    },
  },
  {
    title: 'requires no other permission from a role with its own',
    appliesTo: ({ permission, everyPermission = false }) => permission.length > 0 && !everyPermission,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      for (const name of endpoint.permission) {
        const answer = await world.send(endpoint, ready, { key: keyWithOnly(name) });
        expect(answer.text).not.toContain('requires the permission');
      }
    },
  },
  {
    title: 'returns 404 for an unknown ID at each position of its path',
    appliesTo: namesIds,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      for (const name of paramsOf(endpoint)) {
        for (const id of [unknownId, "' or 1=1 --", 'ä%00ö', 'x'.repeat(500)]) {
          const params = { ...ready.params, [name]: encodeURIComponent(id) };
          expectError(await world.send(endpoint, { ...ready, params }), 404, 'not_found');
        }
      }
    },
  },
  {
    title: "treats another company's IDs like unknown ones",
    appliesTo: namesIds,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      const theirs = await world.ready(endpoint, other);
      for (const name of paramsOf(endpoint)) {
        const id = theirs.params[name]!;
        const answer = await world.send(endpoint, { ...ready, params: { ...ready.params, [name]: id } });
        expectError(answer, 404, 'not_found');
        const unknown = await world.send(endpoint, { ...ready, params: { ...ready.params, [name]: unknownId } });
        expect(said(answer, [id])).toEqual(said(unknown, [unknownId]));
      }
      expectDone(await world.send(endpoint, theirs, { key: keys.otherAdmin }), endpoint);
    },
  },
  {
    title: "treats another company's IDs in query and body like unknown ones",
    appliesTo: (endpoint) => idFields(fieldsOf(endpoint.query)).length + idFields(bodySchema(endpoint)).length > 0,
    run: async (world, endpoint) => {
      const inQuery = idFields(fieldsOf(endpoint.query)).map((field) => ({ field, part: 'query' as const }));
      const inBody = idFields(bodySchema(endpoint)).map((field) => ({ field, part: 'body' as const }));
      for (const { field, part } of [...inQuery, ...inBody]) {
        const id = await world.create(collections[field.name]!, other);
        const answered = async (named: string): Promise<unknown> => {
          const ready = await world.ready(endpoint, own);
          const changed = field.put(ready[part], named);
          const answer = await world.send(endpoint, { ...ready, [part]: changed });
          return answer.status < 300
            ? JSON.stringify(answer.body.data).replaceAll(named, '<id>')
            : said(answer, [named]);
        };
        expect(await answered(id), `field ${field.name}`).toEqual(await answered(unknownId));
      }
    },
  },
  {
    title: "returns 404 for a client's IDs without client_id, and works with it",
    appliesTo: (endpoint) => namesIds(endpoint) && endpoint.client,
    run: async (world, endpoint) => {
      const theirs = await world.ready(endpoint, client);
      expectError(await world.send(endpoint, theirs), 404, 'not_found');
      expectDone(await world.send(endpoint, theirs, { owner: client }), endpoint);
    },
  },
  {
    title: 'works for a client account',
    appliesTo: (endpoint) => !namesIds(endpoint) && endpoint.client,
    run: async (world, endpoint) =>
      expectDone(await world.send(endpoint, await world.ready(endpoint, client), { owner: client }), endpoint),
  },
  {
    title: "requires client.access for client_id, and one of the company's own clients",
    appliesTo: ({ client: takesClient }) => takesClient,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      const { key } = { key: keyWithOnly(endpoint.permission[0] ?? 'dashboard.library') };
      if (endpoint.permission[0] !== 'client.access') {
        const answer = await world.send(endpoint, ready, { owner: { key, client: 'bakery' } });
        expectError(answer, 401, 'permission_denied');
      }
      for (const named of ['unknown', 'cafe', 'other', 'acme']) {
        const answer = await world.send(endpoint, ready, { owner: { key: keys.acmeAdmin, client: named } });
        expectError(answer, 404, 'not_found');
      }
    },
  },
  {
    title: "returns 405 with Allow for a method that its path doesn't support",
    appliesTo: all,
    run: async (world, endpoint) => {
      for (const method of ['PATCH', 'OPTIONS', 'TRACE']) {
        const answer = await world.send(endpoint, {}, { method });
        expectError(answer, 405, 'method_not_allowed');
        expect(String(answer.headers.allow).split(', ')).toContain(endpoint.method);
      }
    },
  },
  {
    title: "returns 400 for a body that isn't a JSON object",
    appliesTo: hasFields,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      const bodies = ['{"name":', '[1]', '7', '{"a":1}{', Buffer.from([0x7b, 0xff, 0x7d]), '['.repeat(100_000)];
      for (const body of bodies) {
        expectError(await world.send(endpoint, ready, { body }), 400, 'bad_request');
      }
    },
  },
  {
    title: 'returns 400 with the name of each required field that is missing or null',
    appliesTo: (endpoint) => hasFields(endpoint) || takesQuery(endpoint),
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      for (const { field, body } of missing(bodySchema(endpoint), ready.body)) {
        expectNamed(await world.send(endpoint, { ...ready, body }), field);
        expectNamed(await world.send(endpoint, { ...ready, body: { ...body, [field]: null } }), field);
      }
      for (const { field, body } of missing(fieldsOf(endpoint.query), ready.query)) {
        expectNamed(await world.send(endpoint, { ...ready, query: body as Record<string, string> }), field);
      }
    },
  },
  {
    title: 'returns 400 with the name of each field of a wrong type or value',
    appliesTo: (endpoint) => hasFields(endpoint) || takesQuery(endpoint),
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      for (const { field, body } of wrongTypes(bodySchema(endpoint), ready.body)) {
        expectNamed(await world.send(endpoint, { ...ready, body }), field);
      }
      for (const [name, schema] of Object.entries(fieldsOf(endpoint.query).properties ?? {})) {
        for (const text of wrongTexts(schema)) {
          expectNamed(await world.send(endpoint, { ...ready, query: { ...ready.query, [name]: text } }), name);
        }
      }
    },
  },
  {
    title: 'accepts unknown fields, and null for optional ones',
    appliesTo: hasFields,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      const optional = Object.keys(endpoint.body as object).filter((name) => !(name in ready.body));
      const nulls = Object.fromEntries(optional.map((name) => [name, null]));
      const extra = { zzz: { deep: [1, 'ß'] }, constructor: 1, client_id: null };
      expectDone(await world.send(endpoint, { ...ready, body: { ...extra, ...nulls, ...ready.body } }), endpoint);
    },
  },
  {
    title: 'allows pages of 1 to 100, from 0 to past the end, and nothing else',
    appliesTo: isList,
    run: async (world, endpoint) => {
      const ready = await world.ready(endpoint, own);
      const page = (query: Record<string, string>): Promise<Answer> =>
        world.send(endpoint, { ...ready, query: { ...ready.query, ...query } });
      for (const limit of ['0', '-1', '101', '2.5', 'x', '', '99999999999999999999']) {
        expectNamed(await page({ limit }), 'limit');
      }
      for (const offset of ['-1', '0.5', 'x', '', '1e3']) expectNamed(await page({ offset }), 'offset');
      for (const limit of ['1', '25', '100']) {
        const { body } = await page({ limit, offset: '0' });
        expect(body.meta.count).toBe(Math.min(Number(limit), body.meta.total!));
        expect(listIn(body.data)).toHaveLength(body.meta.count!);
      }
      const past = await page({ offset: '999999999' });
      expect([past.status, past.body.meta.count, listIn(past.body.data)]).toEqual([200, 0, []]);
    },
  },
];

const bodySchema = ({ body }: Endpoint): ReturnType<typeof fieldsOf> =>
  typeof body === 'object' ? fieldsOf(body) : {};

/** The only list in a response. */
const listIn = (data: Record<string, unknown>): unknown[] =>
  Object.values(data).find((value) => Array.isArray(value)) as unknown[];
