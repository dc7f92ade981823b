import { Type } from 'typebox';
import type { Resource } from '../endpoint.ts';
import { linkTotals } from '../usage/link-records.ts';
import { defineReport } from '../usage/report.ts';

const count = Type.Integer({ minimum: 0 });

export default {
  name: 'usage-details',
  summary: 'Counts of calls and views as numbers, for calculations',
  endpoints: [
    defineReport({
      id: 'listApiCalls',
      model: 'ApiCalls',
      path: '/usage-details/api-calls',
      summary: 'Calls and remaining allowance per day',
      basis: 'decided',
      list: 'api_calls',
      record: { date: Type.String(), calls: count, limit: count, remaining: count },
      rows: ({ limits, account, from, to }) =>
        limits.daysOfCalls(account, from.date, to.date).map(({ day, used, allowance }) => ({
          date: day,
          calls: used,
          limit: allowance,
          remaining: Math.max(0, allowance - used),
        })),
    }),
    defineReport({
      id: 'listPublishedLinkViews',
      model: 'PublishedLinkViews',
      path: '/usage-details/published-link-views',
      summary: 'Views of each published link in the range, the most viewed first',
      basis: 'decided',
      list: 'published_link_views',
      record: { published_link_id: Type.String(), dashboard_name: Type.String(), views: count },
      rows: linkTotals,
    }),
  ],
} satisfies Resource;
