import { Type } from 'typebox';
import type { Call, Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { unixTime } from '../http/fields.ts';
import { listMeta, pageOf, pageQuery } from '../http/page.ts';
import { badRequest, forbidden, lacking, notFound } from '../http/refusal.ts';
import { daysOfCalls } from '../limits/allowance.ts';
import { easternDay } from '../limits/eastern-day.ts';
import { type Account, accountById } from '../store/accounts.ts';

/** What every report takes. */
const reportQuery = {
  start_date: unixTime,
  end_date: unixTime,
  company_id: Type.Optional(Type.String({ minLength: 1 })),
  ...pageQuery,
};

type ReportCall = Call<{ start_date: number; end_date: number; company_id?: string }>;

function reportedAccount({ parts, caller, query }: ReportCall): Account {
  const id = query.company_id;
  if (id === undefined) return caller.company;
  if (!caller.permissions.has('client.access')) throw lacking(['client.access'], { code: 'forbidden' });
  const account = accountById(parts.db, id);
  if (account === undefined) throw notFound(`Company not found: ${id}`);
  if (account.id === caller.company.id || account.parentId === caller.company.id) return account;
  throw forbidden('The company is neither yours nor a client of yours');
}

/** The first and the last day of the report, in the zone in which the service's days turn. */
function days({ start_date, end_date }: ReportCall['query']): [string, string] {
  if (start_date > end_date) throw badRequest('Field "start_date" must not be after "end_date"');
  return [easternDay(start_date * 1000).date, easternDay(end_date * 1000).date];
}

const resource: Resource = {
  name: 'usage-overview',
  summary: 'Reports of what an account uses, a record a day',
  endpoints: [
    defineEndpoint({
      method: 'GET',
      path: '/usage-overview/api-usage',
      summary: 'Calls a day and the allowance of that day',
      basis: 'document',
      permission: ['account.api'],
      lacking: 'forbidden',
      client: false,
      query: reportQuery,
      answer: {
        status: 200,
        data: Type.Object({
          overview: Type.Array(
            Type.Object({ calendar_date: Type.String(), api_usage: Type.String(), api_limit: Type.String() }),
          ),
        }),
      },
      find: (call) => reportedAccount(call),
      do: ({ parts, query }, account) => {
        const listed = pageOf(daysOfCalls(parts.db, account.id, ...days(query)), query);
        const overview = listed.items.map(({ day, used, allowance }) => ({
          calendar_date: day,
          api_usage: String(used),
          api_limit: String(allowance),
        }));
        return { data: { overview }, meta: listMeta(listed) };
      },
    }),
  ],
};
export default resource;
