import { defineService, type ErrorRule, option, soapServerCode } from '#sdk';
import { discover, execute } from './envelope.ts';
import { readResult } from './read-result.ts';

const catalog = option.text({
  about: 'Name of the catalog (the database). Default: set by the server.',
  example: 'FoodMart',
});
const fault = 'Envelope.Body.Fault';
/** The rows are children of the root element, which is present even if there are no rows. */
const absent = 'Envelope.Body.DiscoverResponse.return.root';
const rows = `${absent}.row`;

/**
 * XML for Analysis 1.1: the SOAP endpoint of Analysis Services, Mondrian and others. The specification and public
 * clients confirm the two calls, both result layouts, and faults with status code 200.
 */
export default defineService({
  id: 'xmla',
  title: 'XML for Analysis (OLAP)',
  summary: 'Reads the results of MDX queries from OLAP servers over XMLA: Analysis Services, Mondrian and others.',
  options: {
    url: option.text({
      about: 'URL of the XMLA endpoint.',
      required: true,
      pattern: '^https?://',
      example: 'https://olap.example.com/olap/msmdpump.dll',
    }),
    data_source: option.text({
      about:
        '`DataSourceInfo` of the data source, if the server has more than one; the `sources` stream lists all data sources.',
      example: 'Provider=Mondrian;DataSource=Foodmart;',
    }),
    user: option.text({ about: 'User for HTTP Basic authentication. Default: anonymous access.', example: 'reader' }),
    password: option.text({
      about: 'Password of the user.',
      secret: true,
      example: `\${env:OLAP_PASSWORD}`,
    }),
  },
  base: '{{ url }}',
  login: [
    { when: 'user', kind: 'basic', user: '{{ user }}', password: "{{ password | default: '' }}" },
    { kind: 'none' },
  ],
  streams: {
    query: {
      about: 'The result of a statement in MDX or another language that the server supports.',
      options: {
        catalog,
        statement: option.text({
          about: 'The statement.',
          required: true,
          example: 'select {[Measures].[Sales]} on columns, [Store].[Store Country].members on rows from [Sales]',
        }),
        layout: option.choice(['tabular', 'multidimensional'], {
          about:
            '`tabular`: one column per level and measure. `multidimensional`: one column per tuple of the first axis, one row per tuple of the others.',
          default: 'tabular',
        }),
      },
      request: execute,
      decode: { as: 'stream', read: readResult },
      records: '',
      columns: 'discovered',
    },
    sources: {
      about: 'The server’s data sources.',
      request: discover('DISCOVER_DATASOURCES'),
      decode: 'xml',
      records: rows,
      absent,
      columns: {
        name: { type: 'text', at: 'DataSourceName' },
        description: { type: 'text', at: 'DataSourceDescription' },
        info: { type: 'text', at: 'DataSourceInfo' },
        provider: { type: 'text', at: 'ProviderName' },
      },
    },
    cubes: {
      about: 'The cubes of a catalog.',
      options: { catalog },
      request: discover('MDSCHEMA_CUBES'),
      decode: 'xml',
      records: rows,
      absent,
      columns: {
        catalog: { type: 'text', at: 'CATALOG_NAME' },
        cube: { type: 'text', at: 'CUBE_NAME' },
        type: { type: 'text', at: 'CUBE_TYPE' },
        description: { type: 'text', at: 'DESCRIPTION' },
      },
    },
    measures: {
      about: 'The measures of a catalog’s cubes.',
      options: { catalog },
      request: discover('MDSCHEMA_MEASURES'),
      decode: 'xml',
      records: rows,
      absent,
      columns: {
        catalog: { type: 'text', at: 'CATALOG_NAME' },
        cube: { type: 'text', at: 'CUBE_NAME' },
        measure: { type: 'text', at: 'MEASURE_NAME' },
        unique_name: { type: 'text', at: 'MEASURE_UNIQUE_NAME' },
        title: { type: 'text', at: 'MEASURE_CAPTION' },
      },
    },
  },
  errors: [
    ...faultRules(`${fault}.detail.Error.@Description`),
    // Mondrian's format.
    ...faultRules(`${fault}.detail.error.desc`),
    ...faultRules(`${fault}.faultstring`, fault),
  ],
  check: {
    request: discover('DISCOVER_DATASOURCES'),
    decode: 'xml',
    message: 'connected over XMLA; login accepted',
  },
  limits: [
    'A result is a single response without pages. Its rows and cells are streamed to the payload; the members of its axes are kept in memory.',
    'Anonymous access and HTTP Basic are supported; NTLM and Kerberos are not.',
    'A column is numeric if the server declares it as numeric or marks each of its values as a number.',
    'Each run reads the whole result, so limit the period in the statement.',
  ],
  example: `sources:
  olap:
    connector: xmla
    url: https://olap.example.com/mondrian/xmla
    user: reader
    password: \${env:OLAP_PASSWORD}
jobs:
  sales:
    source: olap
    query:
      stream: query
      catalog: FoodMart
      statement: select {[Measures].[Sales]} on columns, [Store].[Store Country].members on rows from [Sales]
`,
});

/**
 * Rules for a fault that has a value at `has` and a message at `messageAt`. If the server's database is down, the fault code
 * says that the server is the cause.
 */
function faultRules(messageAt: string, has = messageAt): ErrorRule[] {
  const blamesServer = { [has]: true, [`${fault}.faultcode`]: soapServerCode } as const;
  return [
    { body: blamesServer, verdict: 'wait', messageAt, message: 'could not process the request' },
    { body: { [has]: true }, verdict: 'config', messageAt, message: 'rejected the request' },
  ];
}
