import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchOf } from '../../src/sdk/batch.ts';
import type { PreparedExpansion } from '../../src/transforms/transform.ts';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startPrometheus } from '../servers/prometheus.ts';
import type { WebServer } from '../servers/web-server.ts';
import { outcome, transformById } from '../transforms/rig.ts';

const start = Date.UTC(2026, 0, 1) / 1000;
const step = 60;
const values = ['1.25', '0.1', '12345678.5', '-3', '1e+21'];
const hosts = ['a', 'é "b"'];
/** A gauge with a value per minute and host. */
const samples = hosts.flatMap((host) =>
  values.map((value, i) => `load{host="${host.replaceAll('"', '\\"')}"} ${value} ${start + i * step}\n`),
);

describeWithWebServer('Prometheus', 'Prometheus', () => {
  const { extract, failure } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startPrometheus(`# TYPE load gauge\n${samples.join('')}`);
  });
  afterAll(() => server?.stop());

  it('returns a matrix, of which each sample becomes a row', async () => {
    const path = `/api/v1/query_range?query=load&start=${start}&end=${start + (values.length - 1) * step}&step=${step}`;
    const { columns, rows } = await extract({ path, records: 'data.result' }, { url: server.url });
    expect(columns.map(({ name }) => name)).toEqual(['metric.__name__', 'metric.host', 'values']);
    const explode = { column: 'values', columns: { at: '[0]', load: '[1]' } };
    const prepared = transformById('explode').prepare(explode, columns) as PreparedExpansion;
    expect(outcome(prepared, batchOf(columns, rows))).toEqual(
      hosts.flatMap((host) => values.map((value, i) => ['load', host, String(start + i * step), value])),
    );
  });

  it('refuses a wrong query with its own words', async () => {
    expect(
      await failure({ path: '/api/v1/query?query=%7B', records: 'data.result' }, { url: server.url }),
    ).toMatchObject({
      code: 'REST_REFUSED',
      seen: expect.stringContaining('bad_data'),
    });
  });
});
