import { describe, expect, it } from 'vitest';
import { openReceiver } from '../alerts/receiver.ts';
import { adminKey, makeWorld } from './world.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

async function setUp() {
  const world = await makeWorld({ serve: ['--no-limits'] });
  const home = await world.home();
  await home.write('orders.csv', 'id,total\n1,9.50\n');
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { orders: { source: 'files', query: 'orders.csv', format: 'csv', target: world.instances.csv } },
  });
  return home;
}

describe('traces over OTLP', () => {
  it('reach the collector set by the standard environment variables before the command exits', async () => {
    const [home, collector] = [await setUp(), await openReceiver()];
    const address = new URL(collector.url).origin;
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: address,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=data',
      OTEL_SERVICE_NAME: 'nightly',
    };
    expect((await home.sync({ env })).code).toBe(0);
    const [got] = collector.got;
    expect(got).toMatchObject({ method: 'POST', path: '/v1/traces' });
    expect(got?.headers['x-team']).toBe('data');
    const { resourceSpans } = JSON.parse(got!.text) as Exported;
    const { attributes } = resourceSpans[0]!.resource;
    expect(attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'nightly' } });
    const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    expect(spans.map(({ name }) => name).sort()).toEqual(['sluice.extract', 'sluice.run', 'sluice.upload']);
    const run = spans.find(({ name }) => name === 'sluice.run');
    for (const span of spans) {
      expect(span.traceId).toBe(run?.traceId);
      if (span !== run) expect(span.parentSpanId).toBe(run?.spanId);
    }
  });

  it("cause only a warning if the collector can't be reached", async () => {
    const home = await setUp();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const { code, jobs, stderr } = await home.sync({ env, args: ['--log', 'warn'] });
    expect([code, jobs[0]?.state]).toEqual([0, 'delivered']);
    expect(stderr).toContain('failed to send traces');
  });
});
