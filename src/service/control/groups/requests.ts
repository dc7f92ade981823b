import { Type } from 'typebox';
import { pathPattern } from '../../faults/path-pattern.ts';
import type { LoggedRequest, RequestLog } from '../../http/request-log.ts';
import { type ControlEndpoint, defineControl } from '../endpoint.ts';

const filters = {
  method: Type.Optional(Type.String()),
  path: Type.Optional(Type.String({ pattern: '^/', maxLength: 500, 'x-rule': 'must begin with /' })),
  status: Type.Optional(Type.Integer({ 'x-rule': 'must be an HTTP status code' })),
  company: Type.Optional(Type.String()),
  credentials: Type.Optional(Type.String()),
  faulty: Type.Optional(Type.Boolean({ 'x-rule': 'must be true or false' })),
  after: Type.Integer({ minimum: 0, default: 0, 'x-rule': 'must be the id of a request' }),
};

interface Filters {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly company?: string;
  readonly credentials?: string;
  readonly faulty?: boolean;
  readonly after: number;
}

type Test = (entry: LoggedRequest) => boolean;

function testOf({ method, path, status, company, credentials, faulty, after }: Filters): Test {
  const fits = path === undefined ? undefined : pathPattern(path);
  return (entry) =>
    entry.id > after &&
    (method === undefined || entry.method === method.toUpperCase()) &&
    (fits === undefined || fits(entry.path)) &&
    (status === undefined || entry.status === status) &&
    (company === undefined || entry.company === company) &&
    (credentials === undefined || entry.credentials === credentials) &&
    (faulty === undefined || (entry.fault !== null) === faulty);
}

const isOver: Test = ({ took_ms }) => took_ms !== null;

interface Wait {
  readonly count: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Resolves with the matching completed requests once there are `count` of them or the timeout has expired. */
function ended(log: RequestLog, fits: Test, { count, timeoutMs, signal }: Wait): Promise<LoggedRequest[]> {
  const found = (): LoggedRequest[] => log.entries.filter((entry) => isOver(entry) && fits(entry));
  let left = count - found().length;
  if (left <= 0) return Promise.resolve(found());
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      leave();
      signal.removeEventListener('abort', finish);
      resolve(found());
    };
    const timer = setTimeout(finish, timeoutMs);
    const leave = log.onEnd((entry) => {
      if (fits(entry)) left -= 1;
      if (left <= 0) finish();
    });
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** The requests that the service received. */
export default [
  defineControl({
    method: 'GET',
    path: '/requests',
    summary: 'Lists the requests to the service, oldest first, including those in progress',
    query: {
      ...filters,
      offset: Type.Integer({ minimum: 0, default: 0, 'x-rule': 'must be a whole number, 0 or more' }),
      limit: Type.Integer({
        minimum: 0,
        maximum: 1_000,
        default: 100,
        'x-rule': 'must be a whole number from 0 to 1000',
      }),
    },
    do: ({ context, query }) => {
      const all = context.requestLog.entries.filter(testOf(query));
      const requests = all.slice(query.offset, query.offset + query.limit);
      return { data: { requests, count: requests.length, total: all.length } };
    },
  }),
  defineControl({
    method: 'GET',
    path: '/requests/wait',
    summary:
      'Waits until `count` matching requests are complete; after a timeout, returns 504 with those completed so far',
    query: {
      ...filters,
      count: Type.Integer({ minimum: 1, maximum: 100_000, default: 1, 'x-rule': 'must be a whole number, 1 or more' }),
      timeout_ms: Type.Integer({
        minimum: 0,
        maximum: 600_000,
        default: 10_000,
        'x-rule': 'must be whole milliseconds, at most 600000',
      }),
    },
    do: async ({ context, query, signal }) => {
      const { count, timeout_ms: timeoutMs } = query;
      const requests = await ended(context.requestLog, testOf(query), { count, timeoutMs, signal });
      return {
        status: requests.length >= count ? 200 : 504,
        data: { requests, count: requests.length, wanted: count },
      };
    },
  }),
  defineControl({
    method: 'DELETE',
    path: '/requests',
    summary: 'Clears the list of requests; the IDs of new requests continue from the last one',
    do: ({ context }) => ({ data: { deleted: context.requestLog.clear() } }),
  }),
] satisfies readonly ControlEndpoint[];
