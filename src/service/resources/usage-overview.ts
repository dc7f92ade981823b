import type { Resource } from '../endpoint.ts';
import { connectorDays, connectorsNow } from '../store/usage-connectors.ts';
import { accountStats, accountStatsRows, signInTrend, signInTrendRows } from '../usage/account-records.ts';
import { clientAggregate, clientAggregateRows, clientTrend, clientTrendRows } from '../usage/client-records.ts';
import { linkViews, linkViewsRows } from '../usage/link-records.ts';
import { daysWith, defineReport, type ReportQuery, texts } from '../usage/report.ts';

/** Names of the connectors in the vendor's gallery, by connector ID. */
const gallery: Readonly<Record<string, string>> = {
  box: 'Box',
  comscore: 'comScore',
  dropbox: 'Dropbox',
  facebook: 'Facebook',
  google_adwords: 'Google AdWords',
  google_analytics: 'Google Analytics',
  google_drive: 'Google Drive',
  google_spreadsheets: 'Google Sheets',
  hubspot: 'HubSpot',
  iformbuilder: 'iFormBuilder',
  marketo: 'Marketo',
  omniture: 'Omniture',
  radian6: 'Radian6',
  salesforce: 'Salesforce',
  searchMetrics: 'Searchmetrics',
  shopify: 'Shopify',
  survey_monkey: 'SurveyMonkey',
  versature: 'Versature',
  xero: 'Xero',
};

/** Returns the name of a connector in the usage reports. */
function serviceName(connector: string): string {
  return gallery[connector] ?? 'Not Available';
}

const dataSourceStats = texts(
  'company_name',
  'calendar_date',
  'service_name',
  'connector_name',
  'type_name',
  'no_of_datasources',
  'no_of_instances',
);

function dataSourceStatsRows({ db, account, from, to, runningDay }: ReportQuery): object[] {
  const days = daysWith(
    { from: from.date, to: to.date, runningDay },
    {
      over: connectorDays(db, account.id, from.date, to.date),
      running: () => connectorsNow(db, account.id, runningDay),
    },
  );
  return days.map(({ day, connector, datasources, instances }) => ({
    company_name: account.name,
    calendar_date: day,
    service_name: serviceName(connector),
    connector_name: serviceName(connector),
    type_name: connector,
    no_of_datasources: String(datasources),
    no_of_instances: String(instances),
  }));
}

function apiUsageRows({ limits, account, from, to }: ReportQuery): object[] {
  return limits.daysOfCalls(account, from.date, to.date).map(({ day, used, allowance }) => ({
    calendar_date: day,
    api_usage: String(used),
    api_limit: String(allowance),
  }));
}

const common = { basis: 'document', list: 'overview' } as const;

export default {
  name: 'usage-overview',
  summary: 'Usage reports with one record per day; the current day shows the values so far',
  endpoints: [
    defineReport({
      ...common,
      id: 'getAccountStats',
      model: 'AccountStats',
      path: '/usage-overview/account-stats',
      summary: 'Users, Klips, data sources, dashboards and stored bytes at the end of each day',
      missing: 'scheduled e-mails, Klip templates and embeds: always 0',
      record: accountStats,
      rows: accountStatsRows,
    }),
    defineReport({
      ...common,
      id: 'getDataSourceStats',
      model: 'DataSourceStats',
      path: '/usage-overview/data-source-stats',
      summary: 'Data sources and instances of each connector at the end of each day',
      record: dataSourceStats,
      rows: dataSourceStatsRows,
    }),
    defineReport({
      ...common,
      id: 'getApiUsage',
      model: 'ApiUsage',
      path: '/usage-overview/api-usage',
      summary: 'Calls and allowance per day',
      record: texts('calendar_date', 'api_usage', 'api_limit'),
      rows: apiUsageRows,
    }),
    defineReport({
      ...common,
      id: 'getPublishedLinkUsage',
      model: 'PublishedLinkUsage',
      path: '/usage-overview/published-links',
      summary: 'Views of published dashboards: one record per hour and link with views',
      decided: 'hours without a view have no record',
      missing: 'disabling a link: `is_disabled` is always No',
      record: linkViews,
      rows: linkViewsRows,
    }),
    defineReport({
      ...common,
      id: 'getDailyClientTrend',
      model: 'DailyClientTrend',
      path: '/usage-overview/daily-client-trend',
      summary: 'Client accounts added and cancelled each day',
      decided: 'a client that is deleted or disabled counts as cancelled, once',
      record: clientTrend,
      gated: true,
      rows: clientTrendRows,
    }),
    defineReport({
      ...common,
      id: 'getMonthlyClientAggregate',
      model: 'MonthlyClientAggregate',
      path: '/usage-overview/monthly-client-aggregate',
      summary: 'Client accounts by state at the end of each month, and how many were added and cancelled',
      decided: 'records show the state at the end of each month',
      record: clientAggregate,
      gated: true,
      rows: clientAggregateRows,
    }),
    defineReport({
      ...common,
      id: 'getAccountSignInTrend',
      model: 'AccountSignInTrend',
      path: '/usage-overview/account-sign-in-trend',
      summary: 'Share of users who signed in recently, at the end of each day',
      decided: 'a call with a password counts as a sign-in; a call with a key does not',
      missing: 'fields after the 90-day percentage, and the trend per user',
      record: signInTrend,
      gated: true,
      rows: signInTrendRows,
    }),
  ],
} satisfies Resource;
