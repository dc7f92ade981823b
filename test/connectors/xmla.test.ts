import { describe, expect, it } from 'vitest';
import xmla from '../../connectors/xmla/index.ts';
import { discovered, executed, olap, soap, tabular } from './doubles/olap.ts';
import {
  checkServiceCase,
  describeStream,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Reply } from './doubles/vendor.ts';

const sales = tabular(
  ['[Store].[Store Country].[MEMBER_CAPTION]:string', '[Measures].[Sales]:double', 'n:int', 'open:boolean'],
  [
    ['Canada & more', '1234567890123456.10', '1', 'true'],
    ['USA', null, '2', 'false'],
    ['Mexico', '1.5E3', null, null],
  ],
);
const given = (execute: Reply, query: object = {}): ServiceCase => ({
  service: xmla,
  source: { url: 'http://olap.example.com/xmla', data_source: 'Foodmart', timeout_seconds: 5 },
  query: { stream: 'query', statement: 'select "a" < 1', catalog: 'FoodMart', ...query },
  routes: olap({ execute: () => execute }),
});
const fault = soap(
  '<SOAP:Fault><faultcode>XMLAnalysisError.0xc10a</faultcode><faultstring>Query failed</faultstring><detail><Error ErrorCode="1" Description="The cube Salez is unknown"/></detail></SOAP:Fault>',
);

describeStream(
  'a result in the tabular layout',
  given(sales),
  {
    rows: [
      ['Canada & more', '1234567890123456.10', '1', 'true'],
      ['USA', null, '2', 'false'],
      ['Mexico', '1.5E3', null, null],
    ],
    columns: ['[Store].[Store Country].[MEMBER_CAPTION] text', '[Measures].[Sales] float', 'n integer', 'open boolean'],
  },
  [
    {
      name: 'a fault with status 200',
      faults: [{ at: 1, reply: fault }],
      problem: { code: 'XMLA_REFUSED', family: 'config', seen: 'The cube Salez is unknown' },
    },
    {
      name: "a server fault, in Mondrian's format",
      faults: [
        {
          at: 1,
          reply: soap(
            '<SOAP:Fault><faultcode>SOAP:Server.00HSBD02</faultcode><faultstring>XMLA MDX execute failed</faultstring><detail><XA:error xmlns:XA="http://mondrian.sourceforge.net"><code>00HSBD02</code><desc>The connection to the warehouse is lost</desc></XA:error></detail></SOAP:Fault>',
          ),
        },
      ],
      problem: { code: 'XMLA_BUSY', family: 'try_later', seen: 'The connection to the warehouse is lost' },
    },
    {
      name: 'a fault with status 500 and no details',
      faults: [{ at: 1, reply: soap('<SOAP:Fault><faultstring>Syntax</faultstring></SOAP:Fault>', 500) }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', seen: 'status 500: Syntax' },
    },
    {
      name: 'a result that breaks off with an error in it',
      faults: [
        {
          at: 1,
          reply: executed('<row/><Exception/><Messages><Error ErrorCode="1" Description="Out of memory"/></Messages>'),
        },
      ],
      problem: { code: 'XMLA_BROKE_OFF', seen: 'Out of memory' },
    },
    {
      name: "a page that isn't XML",
      faults: [{ at: 1, reply: { text: '<html><br></html>' } }],
      problem: { code: 'XMLA_UNREADABLE', family: 'try_later' },
    },
    {
      name: "a response that isn't a result",
      faults: [{ at: 1, reply: soap('<hello/>') }],
      problem: { code: 'XMLA_NO_RESULT' },
    },
  ],
);

it('sends requests as the specification requires', async () => {
  const { vendor } = await runService(given(sales));
  const { headers, body } = vendor.asked[0]!;
  expect(headers.soapaction).toBe('"urn:schemas-microsoft-com:xml-analysis:Execute"');
  expect(headers['content-type']).toContain('text/xml');
  expect(body).toContain('<Statement>select &#34;a&#34; &#60; 1</Statement>');
  expect(body).toContain(
    '<DataSourceInfo>Foodmart</DataSourceInfo><Catalog>FoodMart</Catalog><Format>Tabular</Format>',
  );
});

describe('a result in the multidimensional layout', () => {
  const member = (hierarchy: string, caption: string) =>
    `<Member Hierarchy="${hierarchy}"><UName>[${caption}]</UName><Caption>${caption}</Caption></Member>`;
  const axis = (name: string, tuples: readonly string[]) =>
    `<Axis name="${name}"><Tuples>${tuples.map((tuple) => `<Tuple>${tuple}</Tuple>`).join('')}</Tuples></Axis>`;
  const cell = (ordinal: number, value: string, type = 'double') =>
    `<Cell CellOrdinal="${ordinal}"><Value xsi:type="xsd:${type}" xmlns:xsi="i">${value}</Value></Cell>`;
  const slicer = axis('SlicerAxis', [member('[Time]', '2026')]);
  const across = axis('Axis0', [member('[Measures]', 'Sales'), member('[Measures]', 'Cost')]);

  it('has a column per tuple of the first axis and a row per tuple of the others; missing cells are empty', async () => {
    const axes = [
      across,
      axis('Axis1', [member('[Store]', 'Berlin'), member('[Store]', 'Paris')]),
      axis('Axis2', [member('[Year]', '2025'), member('[Year]', '2026')]),
      slicer,
    ];
    const cells = [cell(0, '1.50'), cell(1, '2'), cell(3, '4'), cell(4, '5'), cell(7, 'INF')];
    const result = executed(`<Axes>${axes.join('')}</Axes><CellData>${cells.join('')}</CellData>`);
    const { rows, columns } = await runService(given(result, { layout: 'multidimensional' }));
    expect(columns.map((column) => column.split(' ')[0])).toEqual(['[Store]', '[Year]', 'Sales', 'Cost']);
    expect(rows).toEqual([
      ['Berlin', '2025', '1.50', '2'],
      ['Paris', '2025', null, '4'],
      ['Berlin', '2026', '5', null],
      ['Paris', '2026', null, null],
    ]);
  });

  it("is rejected if its cells aren't in order", async () => {
    const stores = axis('Axis1', [member('[Store]', 'Berlin'), member('[Store]', 'Paris')]);
    const result = executed(`<Axes>${across}${stores}</Axes><CellData>${cell(2, '1')}${cell(0, '2')}</CellData>`);
    const problem = await failService(given(result, { layout: 'multidimensional' }));
    expect(problem).toMatchObject({ code: 'XMLA_DISORDER', seen: 'cell 0' });
  });

  it('has one row if there is only one axis', async () => {
    const result = executed(`<Axes>${across}${slicer}</Axes><CellData>${cell(1, 'much', 'string')}</CellData>`);
    const { rows } = await runService(given(result, { layout: 'multidimensional' }));
    expect(rows).toEqual([[null, 'much']]);
  });
});

it.each([
  ['SOAP:Server.00HSBD02', 'SERVICE_BUSY', 'try_later'],
  ['SOAP:Client.00HSBB16', 'SERVICE_REFUSED', 'config'],
  ['XMLAnalysisError.0xc10a', 'SERVICE_REFUSED', 'config'],
])('a fault with the code %s in reply to a list request causes %s', async (code, problem, family) => {
  const refused = soap(`<SOAP:Fault><faultcode>${code}</faultcode><faultstring>No list</faultstring></SOAP:Fault>`);
  const routes = olap({ discover: refused, execute: () => refused });
  const source = { ...given(refused).source, retries: 0 };
  expect(await failService({ ...given(refused), routes, source, query: { stream: 'cubes' } })).toMatchObject({
    code: problem,
    family,
    seen: 'status 200: No list',
  });
});

it('lists sources, cubes and measures', async () => {
  const list = async (stream: string, rows: string) => {
    const routes = olap({ discover: discovered(rows), execute: () => fault });
    const outcome = await runService({ ...given(fault), routes, query: { stream } });
    return { rows: outcome.rows, body: outcome.vendor.asked[0]?.body as string };
  };
  const sources = await list('sources', '<row><DataSourceName>M</DataSourceName><ProviderName>P</ProviderName></row>');
  expect(sources.rows).toEqual([['M', null, null, 'P']]);
  expect(sources.body).toContain('<RequestType>DISCOVER_DATASOURCES</RequestType>');
  const cubes = await list(
    'cubes',
    '<row><CATALOG_NAME>F</CATALOG_NAME><CUBE_NAME>A</CUBE_NAME></row><row><CUBE_NAME>B</CUBE_NAME></row>',
  );
  expect(cubes.rows.map(([, cube]) => cube)).toEqual(['A', 'B']);
  expect((await list('measures', '<row><MEASURE_NAME>Sales</MEASURE_NAME></row>')).rows[0]?.[2]).toBe('Sales');
});

it('logs in with the user and password if they are set, and reports if the server refuses them', async () => {
  const guard = ({ headers }: { headers: Record<string, unknown> }) =>
    headers.authorization === `Basic ${Buffer.from('ann:s3cret').toString('base64')}`
      ? undefined
      : { status: 401, text: 'no' };
  const withUser = (password: string) => ({
    ...given(sales),
    source: { url: 'http://olap.example.com/xmla', user: 'ann', password },
    guard: guard as never,
  });
  expect(await checkServiceCase(withUser('s3cret'))).toBe('connected over XMLA; login accepted');
  expect(await failService(withUser('old'))).toMatchObject({ code: 'SERVICE_LOGIN', family: 'login' });
});
