import {
  type Dataset,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  httpProblem,
  nextLink,
  Problem,
  type RecordOptions,
  readRecords,
  withDefaults,
  withUrl,
} from '#sdk';
import { type Answer, type AnswerContent, contentOf, inputOf } from './discover-answer.ts';
import { pagingCandidates } from './discover-paging.ts';
import { cellListsIn, changeTimeIn, keyIn, type RecordList } from './discover-records.ts';
import { query, type RestQuery } from './options.ts';
import { settingsOf } from './page-answer.ts';
import { placePage } from './paging.ts';
import type { RestPaging } from './paging-options.ts';
import { registerSecrets } from './request.ts';
import type { RestClient } from './rest-client.ts';

const maxAnswerBytes = 8 * 1024 * 1024;

interface DiscoverPathOptions {
  readonly asking: RestClient;
  readonly client: HttpClient;
  readonly path: string;
}

/** Suggests the query that reads all records at a path. The suggestion is based on one or two responses. */
export async function discoverPath({ asking, client, path }: DiscoverPathOptions): Promise<Dataset> {
  // The suggestion repeats the path.
  registerSecrets(new URLSearchParams(path.slice(path.indexOf('?') + 1)));
  const plain = withDefaults(query, { path });
  const first = await requestOnce(asking, plain);
  const settings = settingsOf(plain, first.answer);
  const content = await contentOf(first, settings);
  const { lists, single = '' } = content;
  const [list, ...others] = lists;
  const records = list?.items ?? [];
  const found = await pagingOf(content, first, { asking, client, plain, settings, records, at: list?.path ?? '' });
  const keyColumn = list?.isMap === true ? keyColumnOf(records) : undefined;
  const at = list?.path ?? single;
  const asked = {
    path,
    ...(at === '' ? {} : { records: at }),
    ...(keyColumn === undefined ? {} : { key_column: keyColumn }),
    ...(found.paging === undefined ? {} : { paging: found.paging }),
  };
  const key = keyColumn ?? keyIn([...records, ...found.more]);
  const changed = changeTimeIn(records);
  const notes = [
    settings.format === 'json' ? '' : `The response is ${settings.format}.`,
    list === undefined ? 'The response contains no list of records, so it is read as a single record.' : '',
    others.length === 0 ? '' : `Other lists in the response: ${others.map((one) => one.path).join(', ')}.`,
    ...cellListsIn(content.document).map(
      (table) =>
        `${table} is a list of lists. To make rows of it, set \`records: $\` and use the transform \`explode\`.`,
    ),
    key === undefined || key === keyColumn
      ? ''
      : `${key} is different in each of the ${records.length + found.more.length} records seen.`,
    changed === undefined
      ? ''
      : `${changed} probably is the time of a record's last change. If the API can filter by it, \`cursor: ${changed}\` and {{ since }} read only changed records.`,
    ...found.notes,
  ];
  const shown = notes.filter((note) => note !== '');
  const table = await tableOf(path, asked, first);
  return { ...table, ...(key === undefined ? {} : { key: [key] }), ...(shown.length === 0 ? {} : { notes: shown }) };
}

/** A name for the column with the members' names that no record uses. */
function keyColumnOf(records: readonly Readonly<Record<string, unknown>>[]): string {
  const names = ['key', 'name', 'member', '_key'];
  return names.find((name) => !records.some((record) => Object.hasOwn(record, name))) ?? '_member';
}

async function requestOnce(
  asking: RestClient,
  plain: RestQuery,
  change: (request: HttpRequest) => HttpRequest = (request) => request,
): Promise<Answer> {
  const make = async () => change(await asking.request(plain, asking.scope));
  return asking.fetch(make, async (answer, request) => ({ request, answer, bytes: await bytesOf(answer) }));
}

async function bytesOf({ body, url }: HttpResponse): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    parts.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > maxAnswerBytes) throw tooLarge(url);
  }
  return Buffer.concat(parts);
}

function tooLarge(url: URL): Problem {
  return httpProblem(
    'REST_TOO_LARGE',
    'job',
    `the response from ${url.pathname} is larger than ${maxAnswerBytes} bytes`,
    {
      next: 'use a path with a limit, for example `--path "/orders?limit=100"`',
    },
  );
}

/** The columns of the records in the first response. */
async function tableOf(name: string, asked: Readonly<Record<string, unknown>>, first: Answer): Promise<Dataset> {
  const settings = settingsOf(withDefaults(query, asked), first.answer);
  const { columns } = await readRecords([inputOf(first, name)], settings);
  return {
    name,
    kind: 'stream',
    columns: columns.map(({ name: column, type }) => ({ name: column, type })),
    query: asked,
  };
}

interface PagingSearch {
  readonly asking: RestClient;
  readonly client: HttpClient;
  readonly plain: RestQuery;
  /** How responses are parsed. */
  readonly settings: RecordOptions;
  readonly records: readonly unknown[];
  /** The path of the records. */
  readonly at: string;
}

interface PagingFound {
  readonly paging?: RestPaging;
  /** The records of the second response. */
  readonly more: readonly unknown[];
  readonly notes: readonly string[];
}

/**
 * Tries the first candidate by requesting the second page. The candidate is confirmed if the second page has other
 * records.
 */
async function pagingOf({ document, root }: AnswerContent, first: Answer, search: PagingSearch): Promise<PagingFound> {
  const link = nextLink(first.answer.headers.link);
  const { headers } = first.answer;
  const candidates = pagingCandidates(document, { link, headers, records: search.records, root });
  const [best] = candidates;
  if (best === undefined) return { more: [], notes: ['The response shows no sign of a next page.'] };
  const second = await secondPage(first, best, search);
  const more = second.find(({ path }) => path === search.at)?.items ?? [];
  const isOther = more.length > 0 && JSON.stringify(more[0]) !== JSON.stringify(search.records[0]);
  const others = candidates.slice(1).map(({ paging }) => `${JSON.stringify(paging)}`);
  const rest = others.length === 0 ? [] : [`Other possible settings for paging: ${others.join(' or ')}.`];
  if (isOther)
    return { paging: best.paging, more, notes: ['The second page was requested and has different records.', ...rest] };
  const finding = `A request for the second page with ${JSON.stringify(best.paging)} returned no new records`;
  if (!best.isTold) return { more: [], notes: [`${finding}; see the API's documentation for paging.`, ...rest] };
  return { paging: best.paging, more: [], notes: [`${finding}: check \`paging\`.`, ...rest] };
}

/** The lists of records in the response to the request for the second page; none if it's refused or unreadable. */
async function secondPage(
  first: Answer,
  { paging, page, link }: ReturnType<typeof pagingCandidates>[number],
  { asking, client, plain, settings }: PagingSearch,
): Promise<readonly RecordList[]> {
  const url = link === undefined ? undefined : URL.parse(link, first.answer.url);
  if (url === null) return [];
  try {
    if (url !== undefined) client.allow(first.request, url);
    const change = (request: HttpRequest) =>
      url === undefined ? placePage(request, { ...plain, paging }, page) : withUrl(request, url);
    return (await contentOf(await requestOnce(asking, plain, change), settings)).lists;
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}
