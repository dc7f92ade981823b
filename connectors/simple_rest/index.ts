import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  defineConnector,
  type HttpClient,
  httpProblem,
  meantWatermark,
  openHttp,
  PageJournal,
  PageSpool,
  Problem,
  ReportOrders,
  type SourceContext,
  shownUrl,
  withDefaults,
} from '#sdk';
import { discoverPath } from './discover.ts';
import { optionFaults } from './faults.ts';
import { namesOfParents, parentsOf, requestsAtOnce } from './for-each.ts';
import { IncrementalRead } from './incremental-read.ts';
import { describedLogin } from './login-of.ts';
import { query, type RestQuery, source } from './options.ts';
import { readPages } from './pages.ts';
import { reference } from './reference.ts';
import { RestClient } from './rest-client.ts';

export { type DatasourceProperties, type FetchLimits, fetchDatasource } from './fetch-datasource.ts';

/** Reads an HTTP API, page by page. */
const connector = defineConnector({
  id: 'simple_rest',
  title: 'REST API',
  summary:
    'Reads json, csv or xml from an HTTP API, page by page, with retries and protection against truncated responses.',
  source,
  query,
  ...reference,
  shorthand: 'path',
  logsInByRequest: true,
  givesOnlyNewBy: ({ cursor }) => (cursor === undefined ? undefined : 'cursor'),
  rangesBy: ({ cursor }) => cursor,
  readsOnFrom: (text, { former, query: { cursor } }) =>
    cursor === undefined ? text : meantWatermark(text, { former, cursor }),

  readsJobs: (asked) => {
    const { job } = asked.for_each ?? {};
    return job === undefined ? [] : [{ job, columns: namesOfParents(asked), option: ['for_each', 'job'] }];
  },

  oauth: ({ auth }) => describedLogin(auth),

  validate: ({ source: given, query: asked }) => optionFaults(given, asked),

  async check(context) {
    const { url } = context.source;
    if (url === undefined) return 'no base URL is set, so there is nothing to check before a job runs';
    const client = await clientOf(context);
    try {
      return await greet(client, new URL(url), context);
    } finally {
      await client.close();
    }
  },

  async discover(context) {
    const { source: given, pattern: path, signal, log, login, logIn } = context;
    if (path === undefined) throw noPath();
    const client = await clientOf(context);
    const once = { preview: { allowsAnyMethod: false } };
    const asking = new RestClient({ source: given, client, login, logIn, zone: 'UTC', signal, log, ...once });
    try {
      return [await discoverPath({ asking, client, path })];
    } finally {
      await asking.end();
      await client.close();
    }
  },

  async extract(context) {
    const {
      source: given,
      query: asked,
      scratch,
      signal,
      log,
      warn,
      login,
      logIn,
      timezone,
      logicalAt,
      watermark,
      keptColumns,
      preview,
      range,
      isDryRun,
      rowsOf,
    } = context;
    const { cursor } = asked;
    const { alive = () => undefined, attemptFacts } = context;
    const startsAt = attemptFacts?.since ?? Date.now();
    const incremental =
      cursor === undefined
        ? undefined
        : new IncrementalRead({ query: { ...asked, cursor }, watermark, keptColumns, range, timezone, startsAt });
    const client = await clientOf(context, requestsAtOnce(asked));
    const orders = new ReportOrders(attemptFacts?.texts);
    const run = { zone: timezone ?? 'UTC', logicalAt: logicalAt ?? attemptFacts?.since, alive };
    const asking = new RestClient({ source: given, client, login, logIn, signal, log, preview, ...run });
    const limits = { maxBytes: given.max_answer_bytes, signal };
    const spool = new PageSpool(scratch, limits);
    const ofParents = new PageSpool(scratch, { ...limits, name: 'parents.spool' });
    const journal =
      asked.resume && attemptFacts !== undefined && preview === undefined
        ? await PageJournal.open({ spool, scratch, facts: attemptFacts })
        : undefined;
    try {
      const reading = { asking, client, log, warn, alive, signal, orders, preview };
      const fromStart = { watermark: undefined, keptColumns: undefined, incremental: undefined };
      const read = (query: RestQuery) => readPages({ ...reading, query, spool: ofParents, ...fromStart });
      const parents = await parentsOf(asked, { read, rowsOf });
      await ofParents.remove();
      const onward = { watermark, keptColumns, incremental, isDryRun, journal };
      return await readPages({ ...reading, query: asked, spool, parents, ...onward });
    } catch (error) {
      await journal?.keep();
      throw error;
    } finally {
      await ofParents.close();
      await asking.end();
      await journal?.close();
      await spool.close();
      await client.close();
    }
  },
});

export default connector;

function noPath(): Problem {
  return new Problem({
    code: 'DISCOVER_PATH',
    family: 'config',
    message: 'an HTTP API cannot list its paths',
    next: 'pass a path: sluice discover SOURCE --path /orders',
  });
}

async function clientOf(
  { source: given, folder, signal }: SourceContext<typeof source>,
  requestsAtOnce?: number,
): Promise<HttpClient> {
  return openHttp({
    timeoutMs: given.timeout_seconds * 1000,
    answerMs: given.answer_seconds * 1000,
    ca: given.ca_file === undefined ? undefined : await readAuthority(resolve(folder, given.ca_file)),
    signal,
    otherOrigins: given.other_origins,
    requestsAtOnce,
  });
}

async function readAuthority(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw httpProblem('REST_CA_FILE', 'config', 'cannot read the CA file', {
      seen: path,
      cause: error,
    });
  }
}

async function greet(client: HttpClient, url: URL, context: SourceContext<typeof source>): Promise<string> {
  const { source: given, login, logIn, signal, log } = context;
  const preview = { allowsAnyMethod: false };
  const asking = new RestClient({ source: given, client, login, logIn, zone: 'UTC', signal, log, preview });
  const asked = withDefaults(query, {});
  try {
    return await asking.fetch(
      () => asking.request(asked, asking.scope),
      async ({ status, headers, body }) => {
        await body.return(undefined);
        return `${shownUrl(url)} returns status ${status} and ${headers['content-type'] ?? 'no content type'}`;
      },
    );
  } catch (error) {
    // The base URL often isn't a resource itself, so any response except a refused login proves that the API can be
    // reached.
    const isAnswered = error instanceof Problem && ['REST_NOT_FOUND', 'REST_REFUSED'].includes(error.code);
    if (isAnswered) return `${shownUrl(url).replace(/\/$/, '')} is reachable; the base URL itself returns 404`;
    throw error;
  } finally {
    await asking.end();
  }
}
