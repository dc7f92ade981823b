import { describe, expect, it } from 'vitest';
import comscore from '../../connectors/comscore.ts';
import { checkServiceCase, failService, runService, type ServiceCase } from './doubles/service-suite.ts';
import type { Asked, Reply } from './doubles/vendor.ts';

const soap = (body: string): Reply => ({
  text: `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`,
  headers: { 'content-type': 'text/xml' },
});
const answered = (action: string, inside: string) =>
  soap(
    `<${action}Response xmlns="http://comscore.com/"><${action}Result>${inside}</${action}Result></${action}Response>`,
  );
const table = `<REPORT><TABLE><THEAD><TR><TD>Media</TD><TD>Visitors</TD><TD>Visitors</TD></TR></THEAD><TBODY>
  <TR><TH>Total &amp; all</TH><TD>1,234</TD><TD>5</TD></TR><TR><TH>News</TH><TD>12</TD></TR></TBODY></TABLE></REPORT>`;

const wrong: Reply = { status: 401, text: 'no' };
const guard = ({ headers }: Asked) =>
  headers.authorization === `Basic ${Buffer.from('ann:s3cret').toString('base64')}` ? undefined : wrong;

/** Test double of comScore: returns its responses in order, then repeats the last one. */
function reports(given: { ping?: readonly string[]; fetch?: Reply; submit?: Reply } = {}): ServiceCase {
  const states = [...(given.ping ?? ['Completed'])];
  const answer = ({ headers }: Asked): Reply => {
    const action = String(headers.soapaction);
    if (action.includes('SubmitReport')) return given.submit ?? answered('SubmitReport', '<JobId>J-1</JobId>');
    if (action.includes('Fetch')) return given.fetch ?? answered('FetchReport', table);
    const state = states.length > 1 ? states.shift()! : states[0]!;
    return answered('PingReportStatus', `<Status>${state}</Status>`);
  };
  return {
    service: comscore,
    source: { user: 'ann', password: 's3cret' },
    query: { stream: 'key_measures', geo: '840', time_periods: [204], measures: [1, 5], parameters: { a: '"<' } },
    routes: { 'POST /KeyMeasures.asmx': answer, 'GET /KeyMeasures.asmx': { text: '<definitions/>' } },
    guard,
  };
}

describe('a comScore report', () => {
  it('is submitted, polled and fetched as a complete table', async () => {
    const { rows, columns, vendor } = await runService(reports());
    expect(columns.map((column) => column.split(' ')[0])).toEqual(['time_period', 'Media', 'Visitors', 'Visitors_3']);
    expect(rows).toEqual([
      ['204', 'Total & all', '1,234', '5'],
      ['204', 'News', '12', null],
    ]);
    expect(vendor.asked.map(({ headers }) => headers.soapaction)).toEqual([
      '"http://comscore.com/SubmitReport"',
      '"http://comscore.com/PingReportStatus"',
      '"http://comscore.com/FetchReport"',
    ]);
    expect(vendor.asked[0]?.body).toContain(
      '<query><Parameter KeyId="geo" Value="840"/><Parameter KeyId="timePeriod" Value="204"/><Parameter KeyId="measure" Value="1"/><Parameter KeyId="measure" Value="5"/><Parameter KeyId="a" Value="&#34;&#60;"/></query>',
    );
    expect(vendor.asked[2]?.body).toContain('<jobId>J-1</jobId>');
  });

  it('is created for each period', async () => {
    const given = reports();
    const { rows } = await runService({ ...given, query: { ...given.query, time_periods: [204, 205] } });
    expect(rows.map(([period]) => period)).toEqual(['204', '204', '205', '205']);
  });

  const fault = (text: string) =>
    soap(`<soap:Fault><faultcode>soap:Client</faultcode><faultstring>${text}</faultstring></soap:Fault>`);
  it.each([
    ['that failed', reports({ ping: ['Failed'] }), { code: 'SERVICE_JOB_FAILED' }],
    [
      'refused with status 200',
      reports({ submit: fault('Unknown geo') }),
      { code: 'SERVICE_REFUSED', seen: 'status 200: Unknown geo' },
    ],
    [
      'rejected with status 500',
      reports({ submit: { ...fault('Bad'), status: 500 } }),
      { code: 'SERVICE_REFUSED', seen: 'status 500: Bad' },
    ],
    [
      "that failed on comScore's server, not because of the query,",
      {
        ...reports({
          submit: {
            ...soap('<soap:Fault><faultcode>soap:Server</faultcode><faultstring>Try later</faultstring></soap:Fault>'),
            status: 500,
          },
        }),
        source: { user: 'ann', password: 's3cret', retries: 0 },
      },
      { code: 'SERVICE_BUSY', family: 'try_later', seen: 'status 500: Try later' },
    ],
    ['without a table', reports({ fetch: answered('FetchReport', '<REPORT/>') }), { code: 'COMSCORE_NO_TABLE' }],
    [
      'for another account',
      { ...reports(), source: { user: 'ann', password: 'old' } },
      { code: 'SERVICE_LOGIN', family: 'login' },
    ],
  ])('%s is recognized', async (_name, given, problem) => {
    expect(await failService(given)).toMatchObject(problem);
  });

  it('survives a truncated response and a rate limit', async () => {
    const faults = [
      { at: 1, reply: 'cut' as const },
      { at: 3, reply: { status: 503, headers: { 'retry-after': '0' } } },
    ];
    expect((await runService({ ...reports(), faults })).rows).toHaveLength(2);
  });
});

it("checks the connection by requesting comScore's report descriptions", async () => {
  expect(await checkServiceCase(reports())).toBe('connected to comScore; login accepted');
});
