import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startSoap } from '../servers/soap.ts';
import { startSpyne } from '../servers/spyne.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

describeWithWebServer('node-soap', 'a SOAP service made with node-soap', () => {
  const { extract, failure } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startSoap();
  }, firstUseMs);
  afterAll(() => server?.stop());

  const query = (page: string): Record<string, unknown> => ({
    path: '/rows',
    method: 'POST',
    parameters: [
      { name: 'content-type', value: 'text/xml; charset=utf-8', type: 'header' },
      { name: 'soapaction', value: '"urn:rows#getRows"', type: 'header' },
    ],
    body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><getRows xmlns="urn:rows"><page>${page}</page></getRows></s:Body></s:Envelope>`,
    records: 'row',
  });
  const rows = all.map((id) => [String(id), `é "${id}" <&>`]);

  it.each<[string, object]>([
    ['until a page without rows', { kind: 'page' }],
    ['until the last page', { kind: 'page', pages: 'Envelope.Body.getRowsResponse.pages' }],
  ])('is read page by page, %s', async (_, paging) => {
    const read = await extract({ ...query('{{ page.number }}'), paging }, { url: server.url });
    expect(read.columns.map(({ name }) => name)).toEqual(['id', 'text']);
    expect(read.rows).toEqual(rows);
  });

  it('fails with the words of its fault', async () => {
    const refused = await failure(query('99'), { url: server.url });
    expect(`${refused.message} ${refused.seen}`).toContain('There is no page 99');
  });
});

describeWithWebServer('Spyne', 'a SOAP service made with Spyne, which gives each record another prefix', () => {
  const { extract, failure } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startSpyne();
  }, firstUseMs);
  afterAll(() => server?.stop());

  const query = (page: string): Record<string, unknown> => ({
    path: '/',
    method: 'POST',
    parameters: [{ name: 'content-type', value: 'text/xml; charset=utf-8', type: 'header' }],
    body: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><get_rows xmlns="t.service"><page>${page}</page></get_rows></s:Body></s:Envelope>`,
  });

  it.each(['Row', 'ns2:Row', 'Envelope.Body.get_rowsResponse.get_rowsResult.Row'])(
    'is read page by page, with records: %s',
    async (records) => {
      const read = await extract(
        { ...query('{{ page.number }}'), records, paging: { kind: 'page' } },
        { url: server.url },
      );
      expect(read.columns.map(({ name }) => name)).toEqual(['id', 'text', 'total']);
      expect(read.rows).toEqual(all.map((id) => [String(id), `é "${id}" <&>`, `${id}.50`]));
    },
  );

  it('fails with the words of its fault', async () => {
    const refused = await failure({ ...query('99'), records: 'Row' }, { url: server.url });
    expect(`${refused.message} ${refused.seen}`).toContain('There is no page 99');
  });
});
