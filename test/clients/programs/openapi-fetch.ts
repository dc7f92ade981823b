import { deepStrictEqual, strictEqual } from 'node:assert';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.ts';

const { BASE_URL = '', API_KEY = '' } = process.env;
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { 'kf-api-key': API_KEY } });
const bodySerializer = (body: string): string => body;

/** Creates a data source; returns the ID of its instance. */
async function create(name: string, format: 'json' | 'csv' | 'xml'): Promise<string> {
  const { data } = await client.POST('/datasources', {
    body: { name, format, connector: 'simple_rest', no_refresh: true },
  });
  return data!.meta.instance_location.split('/').at(-1)!;
}

async function upload(id: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' };
  const { error } = await client.PUT('/datasource-instances/{id}/data', {
    params: { path: { id } },
    body,
    headers,
    bodySerializer,
  });
  strictEqual(error, undefined);
}

async function download(id: string): Promise<string> {
  const { data } = await client.GET('/datasource-instances/{id}/data', {
    params: { path: { id }, query: { raw: true } },
    parseAs: 'text',
  });
  return data as string;
}

const documents = { csv: 'a,b\n1,"ä\n2"\n', json: '[ {"a": 1.50} ]\n', xml: '<r>\r\n<a>1</a></r>' } as const;
for (const format of ['csv', 'json', 'xml'] as const) {
  const id = await create(`Typed ${format}`, format);
  await upload(id, documents[format]);
  strictEqual(await download(id), documents[format]);
  if (format !== 'json') continue;
  const { data } = await client.GET('/datasource-instances/{id}/data', { params: { path: { id } } });
  deepStrictEqual((data as components['schemas']['DownloadInstanceDataEnvelope']).data, JSON.parse(documents.json));
}

const names: string[] = [];
for (let total = 1; names.length < total; ) {
  const { data } = await client.GET('/datasources', { params: { query: { limit: 2, offset: names.length } } });
  total = data!.meta.total;
  names.push(...data!.data.datasources.map((source) => source.name));
}
deepStrictEqual(names.toSorted(), ['Typed csv', 'Typed json', 'Typed xml']);

const klip = (await client.POST('/klips', { body: { name: 'Sales' } })).data!.meta.location.split('/').at(-1)!;
const { data: schema } = await client.GET('/klips/{id}/schema', { params: { path: { id: klip } } });
strictEqual(schema!.data.schema.components[0]!.displayName, 'Simple Value');
const tab = (await client.POST('/tabs', { body: { name: 'Board' } })).data!.meta.location.split('/').at(-1)!;
const placed = await client.PUT('/tabs/{id}/klip-instances', {
  params: { path: { id: tab } },
  body: { klips: [{ klip_id: klip, region: 1, position: 0 }] },
});
strictEqual(placed.data!.data.klip_instances[0]!.name, 'Sales');

const { error } = await client.GET('/datasources/{id}', { params: { path: { id: 'unknown' } } });
strictEqual(error!.meta.error_code satisfies components['schemas']['ErrorCode'], 'not_found');
