import {
  batchText,
  type HttpRequest,
  type HttpResponse,
  isObject,
  parseExact,
  parseXml,
  type RecordInput,
  type RecordOptions,
  readRecords,
} from '#sdk';
import { listsIn, pathText, type RecordList } from './discover-records.ts';

/** A whole response. */
export interface Answer {
  readonly request: HttpRequest;
  readonly answer: HttpResponse;
  readonly bytes: Buffer;
}

/** What a response contains. */
export interface AnswerContent {
  /** json, xml: the document; undefined if it can't be parsed. The reader then reports what is wrong, and where. */
  readonly document: unknown;
  /** xml: the name of the root element, with which all places begin. */
  readonly root?: string | undefined;
  /** The lists of records, the most likely one first. */
  readonly lists: readonly RecordList[];
  /** Where the only record is if there's no list of records; undefined if the document itself is the record. */
  readonly single?: string | undefined;
}

/** Finds the records in a response of this format. Throws a Problem if it can't be read. */
export async function contentOf(answer: Answer, settings: RecordOptions): Promise<AnswerContent> {
  const { format } = settings;
  const text = answer.bytes.toString('utf8');
  if (format === 'json') {
    const document = parsed(() => parseExact(text));
    return { document, lists: listsIn(document) };
  }
  if (format === 'xml') return xmlContent(parsed(() => parseXml(text)));
  return { document: undefined, lists: [{ path: '', items: await rowsOf(answer, settings), isMap: false }] };
}

/** The response as an input of a reader. */
export function inputOf({ bytes }: Pick<Answer, 'bytes'>, name: string): RecordInput {
  return {
    name,
    async *open() {
      yield bytes;
    },
  };
}

/** In xml, the members of an element aren't records, because their names are the names of elements. */
function xmlContent(document: unknown): AnswerContent {
  const lists = listsIn(document).filter(({ isMap }) => !isMap);
  const [root] = isObject(document) ? Object.keys(document) : [];
  return { document, root, lists, single: pathText(onlyElements(document)) };
}

/** The path of the innermost element that is the only one in each element around it: `orders.order`. */
function onlyElements(value: unknown): string[] {
  const children = isObject(value) ? Object.entries(value).filter(([name]) => !name.startsWith('@')) : [];
  const [only, ...others] = children;
  return only === undefined || others.length > 0 || !isObject(only[1]) ? [] : [only[0], ...onlyElements(only[1])];
}

async function rowsOf(answer: Answer, settings: RecordOptions): Promise<Record<string, string | null>[]> {
  const { columns, batches } = await readRecords([inputOf(answer, answer.answer.url.pathname)], settings);
  const rows: Record<string, string | null>[] = [];
  for await (const batch of batches) {
    for (const row of batchText(batch))
      rows.push(Object.fromEntries(columns.map(({ name }, c) => [name, row[c] ?? null])));
  }
  return rows;
}

function parsed(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
