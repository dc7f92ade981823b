import { badPages, type Case, type Cases } from '../case.ts';

const period = 'start_date=0&end_date=4000000000';

const report: Case = {
  query: period,
  bad: [
    { query: 'start_date=0', field: 'end_date' },
    { query: 'end_date=0', field: 'start_date' },
    { query: 'start_date=2020-01-01&end_date=1', field: 'start_date' },
    { query: 'start_date=0&end_date=1.5', field: 'end_date' },
    { query: 'start_date=2&end_date=1', field: 'start_date' },
    { query: `${period}&company_id=`, field: 'company_id' },
    ...badPages.map(({ query, field }) => ({ query: `${period}&${query}`, field })),
  ],
};

const cases: Cases = {
  'GET /usage-overview/account-stats': report,
  'GET /usage-overview/data-source-stats': report,
  'GET /usage-overview/api-usage': report,
  'GET /usage-overview/published-links': report,
  'GET /usage-overview/daily-client-trend': report,
  'GET /usage-overview/monthly-client-aggregate': report,
  'GET /usage-overview/account-sign-in-trend': report,
  'GET /usage-details/api-calls': report,
  'GET /usage-details/published-link-views': report,
};
export default cases;
