import { Compile } from 'typebox/compile';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import { openApiOf } from '../../src/service/openapi/document.ts';
import { loadExamples } from '../../src/service/openapi/examples.ts';
import { inlined, Models } from '../../src/service/openapi/models.ts';
import type { OperationResponse } from '../../src/service/openapi/operation.ts';
import type { OpenApiSchema } from '../../src/service/openapi/schemas.ts';
import { startService } from '../../src/service/service.ts';
import { sectionFour } from './section-four.ts';
import { type Bench, bench } from './service.ts';

const resources = await collectResources();
const endpoints = resources.flatMap((resource) => resource.endpoints);
const url = 'http://127.0.0.1:8080';
const examples = await loadExamples();
const document = openApiOf(resources, { url, examples });
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
);

/** A path without its parameters' names, which aren't part of the contract. */
const bare = (title: string): string => title.replaceAll(/\{\w+\}/g, '{}');

const media = operations.flatMap(({ operation: { requestBody, responses } }) =>
  [requestBody, ...Object.values(responses)].flatMap((part) =>
    part !== undefined && 'content' in part ? Object.values(part.content) : [],
  ),
);

const compiled = (schema: OpenApiSchema) =>
  Compile(inlined(schema, document.components.schemas) as Parameters<typeof Compile>[0]);

const ask = async (given: Bench, path: string, options: { method?: 'GET' | 'HEAD'; etag?: string } = {}) => {
  const { method = 'GET', etag } = options;
  const headers = etag === undefined ? {} : { 'if-none-match': etag };
  const { statusCode, headers: got, body } = await request(given.origin + path, { method, headers });
  return { status: statusCode, headers: got, text: await body.text() };
};

describe('the OpenAPI document', () => {
  it('contains every endpoint from the public document', () => {
    const described = new Set(operations.map(({ title }) => bare(title)));
    expect(sectionFour.filter((title) => !described.has(bare(title)))).toEqual([]);
  });

  it('contains exactly the declared endpoints, each with its required permissions and its basis', () => {
    const declared = endpoints.map(({ method, path, permission, everyPermission, basis }) => [
      `${method} ${path}`,
      permission,
      everyPermission,
      basis,
    ]);
    const described = operations.map(({ title, operation }) => [
      title,
      operation['x-permission'],
      operation['x-every-permission'],
      operation['x-basis'],
    ]);
    expect(described.toSorted()).toEqual(declared.toSorted());
  });

  it('marks exactly the endpoints from the public document', () => {
    const known = new Set(sectionFour.map(bare));
    const optionalSegment = 'DELETE /datasources/{}/share-rights';
    const marked = operations
      .filter(({ operation }) => operation['x-basis'] === 'document')
      .map(({ title }) => bare(title))
      .filter((title) => title !== optionalSegment);
    expect(marked.filter((title) => !known.has(title))).toEqual([]);
  });

  it('gives each operation a unique ID', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z]\w+$/);
  });

  it('lists every path parameter, every query field and the client account', () => {
    for (const endpoint of endpoints) {
      const { parameters } = document.paths[endpoint.path]![endpoint.method.toLowerCase()]!;
      const expected = [
        ...[...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name}`),
        ...Object.keys(endpoint.query).map((name) => `query ${name}`),
        ...(endpoint.client ? ['query client_id'] : []),
      ];
      expect(new Set(parameters.map(({ in: where, name }) => `${where} ${name}`))).toEqual(new Set(expected));
    }
  });

  it('says of each parameter what it is', () => {
    const described = operations.flatMap(({ title, operation }) =>
      operation.parameters
        .filter(({ in: where }) => where === 'path')
        .map(({ name, description }) => [title, name, description]),
    );
    expect(described.filter(([, , text]) => !/^ID of the (?!undefined)\w/.test(String(text)))).toEqual([]);
  });

  it('never has two different models of one name', () => {
    const models = new Models();
    models.add('Pair', { type: 'object', properties: { id: { type: 'string' } } });
    models.add('Pair', { type: 'object', properties: { id: { type: 'string' } } });
    expect(() => models.add('Pair', { type: 'object' })).toThrow('Two models are named Pair');
  });

  it('lists words that generators can make different constants of', () => {
    const alike: unknown[] = [];
    JSON.stringify(document, (_key, value: { enum?: unknown }) => {
      const words = Array.isArray(value?.enum) ? value.enum.map((word) => String(word)) : [];
      const constants = words.map((word) => word.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'));
      if (new Set(constants).size < words.length) alike.push(words);
      return value;
    });
    expect(alike).toEqual([]);
  });

  it('contains every component that it references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, way]) => way!);
    expect(references.length).toBeGreaterThan(0);
    for (const way of new Set(references)) {
      const part = way.split('/').reduce<unknown>((node, step) => (node as Record<string, unknown>)?.[step], document);
      expect(part, way).toBeDefined();
    }
  });

  it('describes bodies and responses with valid schemas that match a real response', async () => {
    const given = await bench();
    await given.source();
    const { text } = await given.call('GET', '/datasources');
    const schemas = media.map(({ schema }) => schema);
    expect(schemas.length).toBeGreaterThan(endpoints.length);
    for (const schema of schemas) compiled(schema);
    const { content } = document.paths['/datasources']!.get!.responses[200] as OperationResponse;
    const check = compiled(content['application/json']!.schema);
    expect([...check.Errors(JSON.parse(text))]).toEqual([]);
    expect(check.Check({ meta: { success: true, status: 200 }, data: { datasources: [] } })).toBe(false);
  });

  it('is served without credentials, with or without a version prefix, and supports conditional requests', async () => {
    const given = await bench();
    for (const path of ['/openapi.json', '/api/1.0/openapi.json', '/api/1/openapi.json/']) {
      const { status, headers, text } = await ask(given, path);
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(JSON.parse(text)).toEqual(
        JSON.parse(JSON.stringify(openApiOf(resources, { url: given.origin, examples }))),
      );
      for (const etag of [headers.etag, `W/${headers.etag}`, `"a", ${headers.etag}`, '*'] as string[]) {
        const again = await ask(given, path, { etag });
        expect([again.status, again.text]).toEqual([304, '']);
      }
      expect((await ask(given, path, { etag: '"a"' })).status).toBe(200);
    }
    expect((await ask(given, '/openapi.json', { method: 'HEAD' })).status).toBe(200);
    expect((await given.call('GET', '/nothing', { key: null })).status).toBe(401);
  });

  it('names the address that clients use: the configured URL, or a valid host, or the address that it listens on', async () => {
    const serverOf = async (given: Bench, host: string) => {
      const { body } = await request(`${given.origin}/openapi.json`, { headers: { host } });
      return ((await body.json()) as typeof document).servers[0]!.url;
    };
    const given = await bench();
    expect(await serverOf(given, 'dashboards.test:81')).toBe('http://dashboards.test:81/api/1.0');
    for (const bad of ['"><script>', 'h:99999', '1.2.3.4.5', '[::::]']) {
      expect(await serverOf(given, bad), bad).toBe(given.service.url);
    }
    const proxied = await bench({ publicUrl: 'https://dashboards.test/acme/' });
    expect(await serverOf(proxied, 'internal.test')).toBe('https://dashboards.test/acme/api/1.0');
    const special = await bench({ publicUrl: 'https://dashboards.test/$&' });
    expect(await serverOf(special, 'internal.test')).toBe('https://dashboards.test/$&/api/1.0');
  });

  it.each([
    'h.test',
    'ftp://h.test',
    'http://ann@h.test/',
    'http://:pw@h.test/',
    'http://h/?',
    'http://h/?a=1',
    'http://h/#',
  ])('is never served under the URL %s, which the service rejects', async (publicUrl) => {
    await expect(startService({ data: 'memory', publicUrl })).rejects.toMatchObject({ code: 'SERVICE_ADDRESS' });
  });

  it("keeps a Klip schema's unknown members in the models of both the response and the request", () => {
    const { KlipSchema, ReplaceKlipSchemaRequest } = document.components.schemas;
    expect([KlipSchema!.additionalProperties, ReplaceKlipSchemaRequest!.additionalProperties]).toEqual([true, true]);
  });

  it('has an example of each response and of each body with fields, and the examples match the schemas', () => {
    for (const { title, operation } of operations) {
      const { deprecated, requestBody, responses } = operation;
      const answer = responses[deprecated ? 400 : (Object.keys(responses)[0] as string)] as OperationResponse;
      expect(answer.content['application/json']!.example, title).toBeDefined();
      const body = requestBody?.content['application/json'];
      if (body !== undefined && body.schema.format !== 'binary') expect(body.example, title).toBeDefined();
    }
    const wrong = media.flatMap(({ schema, example }) =>
      example === undefined ? [] : [...compiled(schema).Errors(example)],
    );
    expect(wrong).toEqual([]);
  });

  it('uses only forms that client generators understand', () => {
    const text = JSON.stringify(document);
    for (const form of [
      '"const":',
      '"patternProperties":',
      '"additionalProperties":false',
      '"x-model":',
      '"x-rule":',
      '~refine',
    ]) {
      expect(text).not.toContain(form);
    }
    const untyped: unknown[] = [];
    JSON.stringify(document.components.schemas, (_key, value: { enum?: unknown; type?: unknown; format?: unknown }) => {
      if (Array.isArray(value?.enum) && typeof value.type !== 'string') untyped.push(value);
      if (value?.type === 'integer' && value.format === undefined) untyped.push(value);
      return value;
    });
    expect(untyped).toEqual([]);
  });

  it('links each list to the operations on its items', () => {
    const linksOf = (path: string) => (document.paths[path]!.get!.responses[200] as OperationResponse).links;
    const id = '$response.body#/data/groups/0/id';
    expect(linksOf('/groups')).toMatchObject({ deleteGroup: { operationId: 'deleteGroup', parameters: { id } } });
    expect(linksOf('/groups/{id}/default-tabs')!.getDefaultDashboard!.parameters).toEqual({
      id: '$request.path.id',
      default_tab: '$response.body#/data/tabs/0/id',
    });
  });

  it('is also served as OpenAPI 3.0.3, which says differently what can be null', async () => {
    const given = await bench();
    const { text } = await ask(given, '/openapi-3.0.json');
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.0.3', paths: { '/groups/{id}': {} } });
    expect(text).toContain('"type":"string","nullable":true');
    expect(text).not.toMatch(/"type":\[|"propertyNames":\{/);
  });
});

describe('the page at /docs', () => {
  it('has no icon, and browsers that ask for one without credentials do not count as failed logins', async () => {
    const given = await bench();
    for (let i = 0; i < 25; i++) expect((await ask(given, '/favicon.ico')).status).toBe(404);
    expect((await given.call('GET', '/profile', { key: null })).status).toBe(401);
  });

  it('shows each endpoint with a command to copy, and needs no credentials', async () => {
    const given = await bench();
    const { status, headers, text } = await ask(given, '/docs');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    for (const { operation } of operations) expect(text).toContain(`<details id="${operation.operationId}"`);
    expect(text).toContain(
      'curl -X POST -H &quot;kf-api-key: $KEY&quot; -d &#39;{&quot;name&quot;:&quot;text&quot;}&#39; ',
    );
    expect(text.match(/curl /g)).toHaveLength(operations.length);
  });

  it('loads nothing from other hosts, and its security policy allows only its own script', async () => {
    const given = await bench();
    const { headers, text } = await ask(given, '/docs');
    expect(text).not.toMatch(/(?:src|href)="(?!#|\/)|@import|url\(|https?:\/\//);
    expect(headers['content-security-policy']).toMatch(
      /default-src 'none'; style-src 'sha256-[^ ]+'; script-src 'sha256-/,
    );
  });
});
