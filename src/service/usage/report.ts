import { type TProperties, Type } from 'typebox';
import type { ServiceContext } from '../context.ts';
import { type ApiCall, defineEndpoint, type Endpoint } from '../endpoint.ts';
import { badRequest, forbidden, missingPermission, notFound } from '../http/api-error.ts';
import { canonicalId } from '../http/canonical-id.ts';
import { unixTime } from '../http/fields.ts';
import { listResult, pageOf, pageQuery } from '../http/page.ts';
import { type EasternDay, easternDay } from '../limits/eastern-day.ts';
import type { Limits } from '../limits/limits.ts';
import { defineModel } from '../model.ts';
import { type Account, accountById, plans } from '../store/accounts.ts';
import type { Database } from '../store/database.ts';

/** Query fields of every report. */
const reportQuery = {
  start_date: unixTime,
  end_date: unixTime,
  company_id: Type.Optional(Type.String({ minLength: 1 })),
  ...pageQuery,
};

type ReportCall = ApiCall<{ start_date: number; end_date: number; company_id?: string; offset: number; limit: number }>;

/** A parsed report request. */
export interface ReportQuery {
  readonly db: Database;
  readonly limits: Limits;
  readonly account: Account;
  /** The first day of the requested range, in New York time. */
  readonly from: EasternDay;
  /** The last day of the requested range, in New York time. */
  readonly to: EasternDay;
  readonly now: number;
  readonly runningDay: string;
}

interface Report {
  readonly id: string;
  readonly path: `/usage-${string}`;
  readonly summary: string;
  readonly basis: Endpoint['basis'];
  readonly decided?: string;
  readonly missing?: string;
  /** Name of the field that contains the list in the response. */
  readonly list: string;
  /** The record's name among the API's models. */
  readonly model: string;
  readonly record: TProperties;
  /** Whether the report is unavailable to companies whose plan is below Grow. */
  readonly gated?: boolean;
  readonly rows: (asked: ReportQuery) => readonly object[];
}

/**
 * Declares an endpoint for a report on a range of days. The endpoint selects the account, checks permissions and
 * returns the rows in pages.
 */
export function defineReport({ list, model, record, gated = false, rows, ...declared }: Report): Endpoint {
  return defineEndpoint({
    ...declared,
    method: 'GET',
    permission: ['account.api'],
    lacking: 'forbidden',
    client: false,
    query: reportQuery,
    answer: { status: 200, data: Type.Object({ [list]: Type.Array(defineModel(model, record)) }) },
    find: (call) => {
      if (gated) checkPlan(call.caller.company);
      return reportedAccount(call);
    },
    do: (call, account) => listResult(list, pageOf(rows(asked(call, account)), call.query)),
  });
}

/** Declares a record's fields, all of which are strings. */
export function texts<const N extends string>(...names: readonly N[]): Record<N, ReturnType<typeof Type.String>> {
  return Object.fromEntries(names.map((name) => [name, Type.String()])) as Record<N, ReturnType<typeof Type.String>>;
}

function checkPlan({ plan }: Account): void {
  if (plans.indexOf(plan) >= plans.indexOf('grow')) return;
  throw forbidden(`This report requires the grow or enterprise plan; your plan is ${plan}`);
}

function reportedAccount({ context, caller, query }: ApiCall<{ company_id?: string }>): Account {
  const id = query.company_id;
  if (id === undefined) return caller.company;
  if (!caller.permissions.has('client.access')) throw missingPermission(['client.access'], { code: 'forbidden' });
  const account = accountById(context.db, canonicalId(id));
  if (account === undefined) throw notFound(`Company not found: ${id}`);
  if (account.id === caller.company.id || account.parentId === caller.company.id) return account;
  throw forbidden('The company is neither yours nor one of your clients');
}

function asked(
  { context, query }: { context: ServiceContext; query: ReportCall['query'] },
  account: Account,
): ReportQuery {
  const { start_date, end_date } = query;
  if (start_date > end_date) throw badRequest('Field "start_date" must not be after "end_date"');
  const now = context.clock.now();
  return {
    db: context.db,
    limits: context.limits,
    account,
    from: easternDay(start_date * 1000),
    to: easternDay(end_date * 1000),
    now,
    runningDay: easternDay(now).date,
  };
}

/** Returns the snapshots of past days. If the current day is in the range, adds its current values. */
export function daysWith<T extends { readonly day: string }>(
  { from, to, runningDay }: Pick<ReportQuery, 'runningDay'> & { from: string; to: string },
  { over, running }: { over: readonly T[]; running: () => readonly T[] },
): T[] {
  const isAsked = from <= runningDay && runningDay <= to;
  return [...over.filter(({ day }) => day !== runningDay), ...(isAsked ? running() : [])];
}
