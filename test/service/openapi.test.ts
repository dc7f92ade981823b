import { Compile } from 'typebox/compile';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import { openApiOf } from '../../src/service/openapi/document.ts';
import { sectionFour } from './section-four.ts';
import { type Bench, bench } from './service.ts';

const resources = await collectResources();
const endpoints = resources.flatMap((resource) => resource.endpoints);
const document = openApiOf(resources);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
);

/** A path without its parameters' names, which aren't part of the contract. */
const bare = (title: string): string => title.replaceAll(/\{\w+\}/g, '{}');

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
    const schemas = operations.flatMap(({ operation }) =>
      [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
        Object.values((part as { content?: Record<string, { schema?: object }> })?.content ?? {}).flatMap(
          ({ schema }) => schema ?? [],
        ),
      ),
    );
    expect(schemas.length).toBeGreaterThan(endpoints.length / 2);
    for (const schema of schemas) Compile(schema as Parameters<typeof Compile>[0]);
    const { content } = document.paths['/datasources']!.get!.responses[200] as {
      content: { 'application/json': { schema: Parameters<typeof Compile>[0] } };
    };
    const check = Compile(content['application/json'].schema);
    expect([...check.Errors(JSON.parse(text))]).toEqual([]);
    expect(check.Check({ meta: { success: true, status: 200 }, data: { datasources: [] } })).toBe(false);
  });

  it('is served without credentials, with or without a version prefix, and supports conditional requests', async () => {
    const given = await bench();
    for (const path of ['/openapi.json', '/api/1.0/openapi.json', '/api/1/openapi.json/']) {
      const { status, headers, text } = await ask(given, path);
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(document)));
      const again = await ask(given, path, { etag: String(headers.etag) });
      expect([again.status, again.text]).toEqual([304, '']);
    }
    expect((await ask(given, '/openapi.json', { method: 'HEAD' })).status).toBe(200);
    expect((await given.call('GET', '/nothing', { key: null })).status).toBe(401);
  });
});

describe('the page at /docs', () => {
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
