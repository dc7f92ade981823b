import { defineService, option, Problem, type RequestData, type Scope, type StreamData, soapServerCode } from '#sdk';

const namespace = 'http://comscore.com/';

const options = {
  geo: option.text({ about: 'Numeric comScore ID of the geography (`geo`).', example: '840' }),
  loc: option.text({ about: 'Numeric ID of the location (`loc`).', example: '0' }),
  time_type: option.text({ about: 'Numeric ID of the period type (`timeType`).', example: '1' }),
  time_periods: option.list<string | number>(
    { type: ['string', 'integer'] },
    {
      about: 'Numeric IDs of the periods (`timePeriod`), such as months; each gets its own report.',
      required: true,
      example: [204, 205],
    },
  ),
  media_set: option.text({ about: 'Numeric ID of the media set (`mediaSet`).', example: '778226' }),
  target_group: option.text({ about: 'Numeric ID of the target group (`targetGroup`).', example: '15' }),
  measures: option.list<string | number>(
    { type: ['string', 'integer'] },
    { about: 'Numeric IDs of the measures (`measure`).', example: [1, 5] },
  ),
  parameters: option.map<string>(
    { type: 'string' },
    { about: 'Additional report parameters, by key.', example: { mediaSetType: '1' } },
  ),
};

/** A report type, with functions that submit a report, poll until it's complete and fetch it. */
function report(service: string, about: string): StreamData {
  return {
    about,
    options,
    partitions: { period: { option: 'time_periods' } },
    decode: 'xml',
    job: {
      create: call(service, 'SubmitReport', submitted),
      keep: { id: 'Envelope.Body.SubmitReportResponse.SubmitReportResult.JobId' },
      poll: call(service, 'PingReportStatus', ofJob),
      state: 'Envelope.Body.PingReportStatusResponse.PingReportStatusResult.Status',
      done: ['Completed'],
      failed: ['Failed'],
    },
    request: call(service, 'FetchReport', ofJob),
    records: ({ body }, { partition }) => rowsOf(body, String((partition as { period: unknown }).period)),
    columns: 'discovered',
  };
}

const ofJob = '<jobId>{{ job.id | xml }}</jobId>';

function call(service: string, action: string, inside: string | ((scope: Scope) => string)): RequestData {
  const tag = (content: string) => `<${action} xmlns="${namespace}">${content}</${action}>`;
  return {
    path: `${service}.asmx`,
    headers: { soapaction: `"${namespace}${action}"` },
    xml: typeof inside === 'string' ? inEnvelope(tag(inside)) : (scope) => inEnvelope(tag(inside(scope))),
  };
}

function inEnvelope(content: string): string {
  return `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${content}</soap:Body></soap:Envelope>`;
}

/**
 * comScore reports over SOAP. Public clients confirm the addresses, the namespace, the three calls, the states and the
 * parameter names. The exact tags of a report's table are not confirmed, so all common table layouts are accepted.
 */
export default defineService({
  id: 'comscore',
  title: 'comScore',
  summary: 'Reads comScore Media Metrix audience reports, which comScore generates on demand for subscribers.',
  options: {
    user: option.text({ about: 'User name at comScore.', required: true, example: 'ann@example.com' }),
    password: option.text({
      about: 'Password of the user.',
      required: true,
      secret: true,
      example: `\${env:COMSCORE_PASSWORD}`,
    }),
  },
  base: 'https://api.comscore.com',
  login: { kind: 'basic', user: '{{ user }}', password: '{{ password }}' },
  streams: {
    key_measures: report('KeyMeasures', 'Key measures for media.'),
    media_trend: report('MediaTrend', 'Media performance over time.'),
    demographic_profile: report('DemographicProfile', 'Audience demographics of media.'),
    cross_visit: report('CrossVisit', 'Audience overlap between media.'),
  },
  errors: [
    {
      body: { 'Envelope.Body.Fault.faultcode': soapServerCode },
      verdict: 'wait',
      messageAt: 'Envelope.Body.Fault.faultstring',
    },
    {
      body: { 'Envelope.Body.Fault': true },
      verdict: 'config',
      messageAt: 'Envelope.Body.Fault.faultstring',
      message: 'refuses the report',
      next: 'check the IDs in the query against the parameter lists of your comScore subscription',
    },
    { body: { ERROR: true }, verdict: 'fail', messageAt: 'ERROR' },
  ],
  budget: { at_once: 1 },
  check: {
    request: { path: 'KeyMeasures.asmx', query: { WSDL: '' } },
    decode: 'xml',
    message: 'connected to comScore; login accepted',
  },
  limits: [
    'Only subscribers can use the report API, and comScore publishes no documentation for it. This connector is based on publicly available clients.',
    'Reports take no dates: comScore identifies periods by numeric IDs.',
    'The columns are `time_period`, followed by the columns of the report’s table.',
    '`sluice check` may not detect wrong credentials; if so, the first report fails.',
    'Digital Analytix, a former comScore product, is not supported.',
  ],
  example: `sources:
  audience:
    connector: comscore
    user: ann@example.com
    password: \${env:COMSCORE_PASSWORD}
jobs:
  reach:
    source: audience
    query: { stream: key_measures, geo: "840", time_type: "1", time_periods: [204, 205], media_set: "778226" }
`,
});

type Node = Readonly<Record<string, unknown>>;

const keys = { geo: 'geo', loc: 'loc', time_type: 'timeType', media_set: 'mediaSet', target_group: 'targetGroup' };

/** A report query's parameters, by key. */
function submitted(scope: Scope): string {
  const named = Object.entries(keys).map(([option, key]) => [key, scope[option]] as const);
  const measures = ((scope.measures ?? []) as unknown[]).map((measure) => ['measure', measure] as const);
  const others = Object.entries((scope.parameters ?? {}) as object);
  const period = ['timePeriod', (scope.partition as { period: unknown }).period] as const;
  const given = [...named, period, ...measures, ...others].filter(([, value]) => value !== undefined);
  const parameters = given.map(([key, value]) => `<Parameter KeyId="${escaped(key)}" Value="${escaped(value)}"/>`);
  return `<query>${parameters.join('')}</query>`;
}

function escaped(value: unknown): string {
  return String(value).replaceAll(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** The rows of the first table in the response. The last row of the table's header contains the column names. */
function* rowsOf(body: unknown, period: string): Generator<Node> {
  const table = firstTable(body);
  if (table === undefined) throw noTable();
  const head = rowsIn(member(table, 'thead'));
  const rest = rowsIn(member(table, 'tbody') ?? table);
  const names = namesOf(head.at(-1) ?? rest.shift() ?? []);
  for (const cells of rest) {
    const pairs = names.map((name, i) => [name, cells[i] ?? null] as const);
    yield { time_period: period, ...Object.fromEntries(pairs) };
  }
}

/** Replaces missing names with a number, and appends a number to duplicate names. */
function namesOf(cells: readonly string[]): string[] {
  const names: string[] = [];
  for (const [i, cell] of cells.entries()) {
    const plain = cell.trim() || `column${i + 1}`;
    names.push(names.includes(plain) ? `${plain}_${i + 1}` : plain);
  }
  return names;
}

function noTable(): Problem {
  return new Problem({
    code: 'COMSCORE_NO_TABLE',
    family: 'job',
    message: 'comScore marked the report as done, but returned no table',
    next: 'open the same report in comScore; a report without a table cannot be read',
  });
}

function firstTable(value: unknown): Node | undefined {
  if (Array.isArray(value)) return value.map(firstTable).find((found) => found !== undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  const own = member(value as Node, 'table');
  if (own !== undefined) return [own].flat()[0] as Node;
  return firstTable(Object.values(value));
}

/** The cells of each row. Header cells precede data cells. */
function rowsIn(part: unknown): string[][] {
  return [member(part as Node, 'tr') ?? []].flat().map((row) => [...cellsIn(row, 'th'), ...cellsIn(row, 'td')]);
}

function cellsIn(row: unknown, tag: string): string[] {
  return [member(row as Node, tag) ?? []].flat().map((cell) => {
    const text = typeof cell === 'object' && cell !== null ? (cell as Node)['#text'] : cell;
    return String(text ?? '');
  });
}

function member(node: Node | undefined, name: string): unknown {
  if (typeof node !== 'object' || node === null) return undefined;
  const found = Object.keys(node).find((key) => key.toLowerCase() === name);
  return found === undefined ? undefined : node[found];
}
