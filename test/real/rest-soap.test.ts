import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startSoap } from '../servers/soap.ts';
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
