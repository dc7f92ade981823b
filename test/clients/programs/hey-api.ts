import { deepStrictEqual, strictEqual } from 'node:assert';
import { client } from './client/client.gen.ts';
import {
  createDashboard,
  createDataSource,
  createKlip,
  downloadInstanceData,
  getDataSource,
  getKlipSchema,
  listDataSources,
  placeKlips,
  uploadInstanceData,
} from './client/index.ts';

const { BASE_URL = '', API_KEY = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, headers: { 'kf-api-key': API_KEY } });

const documents = { csv: 'a,b\n1,"ä\n2"\n', json: '[ {"a": 1.50} ]\n', xml: '<r>\r\n<a>1</a></r>' } as const;
for (const format of ['csv', 'json', 'xml'] as const) {
  const created = await createDataSource({
    body: { name: `Typed ${format}`, format, connector: 'simple_rest', no_refresh: true },
  });
  const id = created.data!.meta.instance_location.split('/').at(-1)!;
  strictEqual((await uploadInstanceData({ path: { id }, body: new Blob([documents[format]]) })).error, undefined);
  const raw = await downloadInstanceData({ path: { id }, query: { raw: true }, parseAs: 'text' });
  strictEqual(raw.data as unknown, documents[format]);
  if (format !== 'json') continue;
  const { data } = await downloadInstanceData({ path: { id }, parseAs: 'json' });
  deepStrictEqual((data as unknown as { data: unknown }).data, JSON.parse(documents.json));
}

const names: string[] = [];
for (let total = 1; names.length < total; ) {
  const { data } = await listDataSources({ query: { limit: 2, offset: names.length } });
  total = Number(data!.meta.total);
  names.push(...data!.data.datasources.map((source) => source.name));
}
deepStrictEqual(names.toSorted(), ['Typed csv', 'Typed json', 'Typed xml']);

const klip = (await createKlip({ body: { name: 'Sales' } })).data!.meta.location.split('/').at(-1)!;
const { data: schema } = await getKlipSchema({ path: { id: klip } });
strictEqual(schema!.data.schema.components[0]!.displayName, 'Simple Value');
const tab = (await createDashboard({ body: { name: 'Board' } })).data!.meta.location.split('/').at(-1)!;
const placed = await placeKlips({ path: { id: tab }, body: { klips: [{ klip_id: klip, region: 1, position: 0 }] } });
strictEqual(placed.data!.data.klip_instances[0]!.name, 'Sales');

const { error } = await getDataSource({ path: { id: 'unknown' } });
strictEqual(error!.meta.error_code, 'not_found');
