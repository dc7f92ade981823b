import {
  defineService,
  type Fields,
  listAt,
  option,
  Problem,
  type Scope,
  type ServiceAnswer,
  textOf,
  valuesAt,
} from '#sdk';
import { googleOAuth } from './_google-oauth.ts';

/** Each request asks for the header row and the values, so that each range can be read independently. */
interface Part {
  readonly header: string | undefined;
  readonly rows: string | undefined;
}

interface Sheet {
  readonly title: string;
  readonly sheetType?: string;
  readonly hidden?: boolean;
  readonly gridProperties?: { readonly rowCount?: unknown; readonly columnCount?: unknown };
}

/** Google Sheets API v4. The API has no pages, so the connector requests a sheet in ranges of rows. */
export default defineService({
  id: 'google_spreadsheets',
  title: 'Google Sheets',
  summary: 'Reads the sheets of a Google spreadsheet as tables.',
  version: 'v4',
  base: 'https://sheets.googleapis.com/{{ api_version }}/spreadsheets',
  options: {
    spreadsheet: option.text({
      about: 'URL of the spreadsheet, or the long ID in that URL.',
      required: true,
      example: 'https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit',
    }),
  },
  login: {
    kind: 'oauth',
    oauth: googleOAuth('spreadsheets.readonly'),
  },
  streams: {
    rows: {
      about: 'The rows of a sheet; its first row has the column names.',
      options: {
        sheet: option.text({
          about: 'Title of the sheet. Default: the first visible sheet.',
          example: 'Orders',
        }),
        range: option.text({
          about:
            'The table’s cell range. Default: the whole sheet. A range without a last row extends to the end of the sheet.',
          example: 'B3:F',
          pattern: '^[A-Za-z]{1,3}[1-9]?[0-9]*:[A-Za-z]{1,3}[1-9]?[0-9]*$',
        }),
        header: option.boolean({
          about:
            'Whether the first row has the column names; otherwise the columns are named column1, column2 and so on.',
          default: true,
        }),
        cells: option.choice(['plain', 'shown'], {
          about:
            '`plain` returns numbers without formatting and dates as the sheet shows them; `shown` returns everything as the sheet shows it ("$1,200").',
          default: 'plain',
        }),
        rows_per_request: option.integer({
          about: 'Rows per request.',
          default: 2000,
          minimum: 1,
        }),
      },
      partitions: {
        part: {
          request: {
            path: ({ spreadsheet }) => idOf(spreadsheet),
            query: { includeGridData: 'false', fields: 'sheets.properties' },
          },
          records: ({ body }, scope) => partsOf(sheetIn(body, scope), scope),
          fields: { header: 'header', rows: 'rows' },
        },
      },
      request: {
        path: ({ spreadsheet }) => `${idOf(spreadsheet)}/values:batchGet`,
        query: {
          ranges: ['{{ partition.part.header }}', '{{ partition.part.rows }}'],
          majorDimension: 'ROWS',
          valueRenderOption: ({ cells }) => (cells === 'shown' ? 'FORMATTED_VALUE' : 'UNFORMATTED_VALUE'),
          dateTimeRenderOption: 'FORMATTED_STRING',
        },
      },
      records: recordsOf,
      columns: 'discovered',
    },
    sheets: {
      about: 'The spreadsheet’s sheets, with their sizes.',
      request: {
        path: ({ spreadsheet }) => idOf(spreadsheet),
        query: { includeGridData: 'false', fields: 'sheets.properties' },
      },
      records: 'sheets.*.properties',
      columns: {
        id: { type: 'integer', at: 'sheetId' },
        title: 'text',
        position: { type: 'integer', at: 'index' },
        kind: { type: 'text', at: 'sheetType' },
        rows: { type: 'integer', at: 'gridProperties.rowCount' },
        columns: { type: 'integer', at: 'gridProperties.columnCount' },
        hidden: 'boolean',
      },
    },
  },
  errors: [
    // Google doesn't say how long to wait, but its quotas are refilled every minute.
    { status: 429, body: { 'error.status': 'RESOURCE_EXHAUSTED' }, verdict: 'wait', wait: '20s' },
    {
      status: 404,
      verdict: 'config',
      message: 'has no such spreadsheet, or the account has no access to it',
      next: 'check `spreadsheet`, and share it with the logged-in account',
    },
    {
      status: 403,
      body: { 'error.status': 'PERMISSION_DENIED' },
      verdict: 'permission',
      next: 'share the spreadsheet with the logged-in account, and enable the Google Sheets API for its app',
    },
    // The API also returns this error for files that aren't Google spreadsheets, such as an Excel workbook in Drive.
    {
      status: 400,
      verdict: 'config',
      next: 'check `spreadsheet`; to read a workbook (.xlsx), use the google_drive connector',
    },
  ],
  budget: { rates: [{ requests: 300, within: '60s' }] },
  check: {
    request: { path: ({ spreadsheet }) => idOf(spreadsheet), query: { fields: 'properties.title' } },
    message: 'found the spreadsheet "{{ answer.properties.title }}"',
  },
  limits: [
    'Google does not report which cells have changed, so each run reads the whole sheet.',
    'Dates are returned as the sheet shows them; use the cell format yyyy-mm-dd to distinguish dates from text.',
    'Blank cells are null; rows with only blank cells are skipped.',
    'A sheet that is edited during a run may be read partly before and partly after the edit.',
    'Google documents a limit of 300 reads per minute for each app, which Sluice respects; a lower limit per user is unconfirmed. If Google reports too many requests, Sluice waits.',
  ],
  example: `sources:
  budget:
    connector: google_spreadsheets
    spreadsheet: https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit
    login: { client_id: "\${env:GOOGLE_CLIENT_ID}", client_secret: "\${env:GOOGLE_CLIENT_SECRET}" }
jobs:
  costs:
    source: budget
    query: { stream: rows, sheet: Costs, range: "B3:F" }
`,
});

/** The spreadsheet's ID, which users may also set as the spreadsheet's browser URL. */
function idOf(spreadsheet: unknown): string {
  const text = String(spreadsheet).trim();
  return encodeURIComponent(/\/d\/([\w-]+)/.exec(text)?.[1] ?? text);
}

function sheetIn(body: unknown, { sheet }: Scope): Sheet {
  const grids = (valuesAt(body, 'sheets.*.properties') as readonly Sheet[]).filter(
    ({ sheetType = 'GRID' }) => sheetType === 'GRID',
  );
  const found = grids.find(({ title, hidden }) => (sheet === undefined ? hidden !== true : title === sheet));
  if (found !== undefined) return found;
  throw new Problem({
    code: 'SERVICE_REFUSED',
    family: 'config',
    message: 'the spreadsheet has no such sheet',
    seen: sheet === undefined ? 'no visible sheet' : String(sheet),
    allowed: grids.map(({ title }) => title).join(', '),
    next: 'set `sheet` to one of the allowed titles',
  });
}

/** The ranges of a sheet to request, in A1 notation. */
function* partsOf(
  { title, gridProperties = {} }: Sheet,
  { range, header, rows_per_request }: Scope,
): Generator<Fields> {
  const [, left = 'A', first = '1', right = lettersOf(Number(gridProperties.columnCount)), last = 'Infinity'] =
    /^([A-Z]+)([0-9]+)?:([A-Z]+)([0-9]+)?$/.exec(String(range ?? '').toUpperCase()) ?? [];
  const name = `'${title.replaceAll("'", "''")}'`;
  const end = Math.min(Number(last), Number(gridProperties.rowCount));
  const between = (from: number, to: number) => `${name}!${left}${from}:${right}${to}`;
  const top = Number(first);
  if (!(top <= end)) return;
  const names = header === true ? between(top, top) : undefined;
  const step = Number(rows_per_request);
  for (let from = header === true ? top + 1 : top; from <= end; from += step) {
    yield { header: names, rows: between(from, Math.min(from + step - 1, end)) } satisfies Part;
  }
}

/** The letters of the nth column: A, … Z, AA. */
function lettersOf(n: number): string {
  return n <= 26 ? String.fromCharCode(64 + n) : lettersOf(Math.floor((n - 1) / 26)) + lettersOf(((n - 1) % 26) + 1);
}

/**
 * Google omits empty cells at the end of a row. This function pads the row, so that columns without values aren't lost.
 */
function* recordsOf(answer: ServiceAnswer, { partition }: Scope): Generator<Fields> {
  const { header } = (partition as { part: Part }).part;
  const ranges = listAt(answer, 'valueRanges') as readonly { readonly values?: readonly (readonly unknown[])[] }[];
  const asked = header === undefined ? 1 : 2;
  if (ranges.length !== asked) throw rangesMissing(ranges.length, asked);
  const names = uniqueNames((header === undefined ? undefined : ranges[0]?.values?.[0]) ?? []);
  for (const cells of ranges.at(-1)?.values ?? []) {
    if (cells.every((cell) => cell === '')) continue;
    const width = Math.max(names.length, cells.length);
    yield Object.fromEntries(Array.from({ length: width }, (_, i) => [names[i] ?? `column${i + 1}`, cellOf(cells[i])]));
  }
}

function rangesMissing(seen: number, asked: number): Problem {
  return new Problem({
    code: 'SERVICE_NO_LIST',
    family: 'job',
    message: 'Google Sheets did not return all requested ranges of the sheet',
    seen: `${seen} ranges`,
    allowed: `${asked} ranges`,
  });
}

function cellOf(cell: unknown): unknown {
  return cell === '' || cell === undefined ? null : cell;
}

/** Numbers are appended to duplicate names, and empty names are replaced by the column's number. */
function uniqueNames(header: readonly unknown[]): string[] {
  const names: string[] = [];
  for (const [i, cell] of header.entries()) {
    const text = textOf(cell) ?? '';
    const plain = text.trim() === '' ? `column${i + 1}` : text;
    let name = plain;
    for (let n = 2; names.includes(name); n++) name = `${plain}_${n}`;
    names.push(name);
  }
  return names;
}
