import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked, Reply } from '../../connectors/doubles/vendor.ts';

const [periods, perPeriod] = [28, 100];
const note = 'media '.repeat(1000);

const soap = (action: string, inside: string): Reply => ({
  text: `<Envelope><Body><${action}Response><${action}Result>${inside}</${action}Result></${action}Response></Body></Envelope>`,
});
const line = (period: string, n: number) => `<TR><TH>${note}${n}</TH><TD>${period}${n}</TD></TR>`;

/** The job's ID is its period. From 1000 on, periods have many rows. */
function report({ headers, body }: Asked): Reply {
  if (String(headers.soapaction).includes('Submit')) {
    const period = /KeyId="timePeriod" Value="(\d+)"/.exec(body as string)?.[1] ?? '';
    return soap('SubmitReport', `<JobId>${period}</JobId>`);
  }
  if (String(headers.soapaction).includes('Ping')) return soap('PingReportStatus', '<Status>Completed</Status>');
  const period = /<jobId>(\d+)</.exec(body as string)?.[1] ?? '';
  const length = Number(period) < 1000 ? 2 : perPeriod;
  const rows = Array.from({ length }, (_, n) => line(period, n)).join('');
  const head = '<THEAD><TR><TD>Media</TD><TD>Visitors</TD></TR></THEAD>';
  return soap('FetchReport', `<REPORT><TABLE>${head}<TBODY>${rows}</TBODY></TABLE></REPORT>`);
}

export default serviceWorld({
  source: { user: 'ann', password: 's3cret-comscore' },
  query: { stream: 'key_measures', time_periods: [204] },
  routes: { 'POST /KeyMeasures.asmx': report, 'GET /KeyMeasures.asmx': { text: '<definitions/>' } },
  columns: [
    { name: 'time_period', type: 'text' },
    { name: 'Media', type: 'text' },
    { name: 'Visitors', type: 'text' },
  ],
  rows: [0, 1].map((n) => ['204', `${note}${n}`, `204${n}`]),
  login: {
    wrong: { password: 'old' },
    guard: ({ headers }) =>
      headers.authorization === `Basic ${Buffer.from('ann:s3cret-comscore').toString('base64')}`
        ? undefined
        : { status: 401, text: 'no' },
  },
  refused: [
    { source: { user: undefined }, option: 'user' },
    { query: { time_periods: 204 }, option: 'time_periods' },
    { query: { stream: 'x' }, option: 'stream' },
  ],
  many: {
    query: { time_periods: Array.from({ length: periods }, (_, i) => 1000 + i) },
    rows: periods * perPeriod,
  },
  waived: {
    hostile: 'names and values come in XML with a column of its own before them; the tests of the stream show them',
  },
});
