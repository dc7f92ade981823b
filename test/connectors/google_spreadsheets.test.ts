import { expect, it } from 'vitest';
import sheets from '../../connectors/google_spreadsheets.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import { type Cells, spreadsheet } from './doubles/spreadsheet.ts';

const id = '1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms';
const orders: Cells = [
  ['Day', 'Paid', 'Note', 'Note', '', 'Never'],
  ['2026-01-05', 12.5, 'a', '', '', ''],
  ['2026-01-06', 7, '', 'b', true],
  [],
  ['2026-01-07', 0, 'c', '', '', '', 'beyond'],
  ['2026-01-08'],
];

const read: ServiceCase = {
  service: sheets,
  source: { spreadsheet: `https://docs.google.com/spreadsheets/d/${id}/edit?gid=0#gid=0` },
  query: { stream: 'rows', sheet: "Ann's orders", rows_per_request: 3 },
  routes: spreadsheet(id, {
    Cover: { cells: [], hidden: true },
    Summary: { cells: [['Total'], [3]] },
    "Ann's orders": { cells: orders, columns: 28 },
  }),
};
const rows = [
  ['2026-01-05', '12.5', 'a', null, null, null, null],
  ['2026-01-06', '7', null, 'b', 'true', null, null],
  ['2026-01-07', '0', 'c', null, null, null, 'beyond'],
  ['2026-01-08', null, null, null, null, null, null],
];
const about = `GET /v4/spreadsheets/${id}?includeGridData=false&fields=sheets.properties`;
const part = (range: string, title = "'Ann''s orders'") =>
  `GET /v4/spreadsheets/${id}/values:batchGet?ranges=${title}!A1:AB1&ranges=${title}!${range}&majorDimension=ROWS&valueRenderOption=UNFORMATTED_VALUE&dateTimeRenderOption=FORMATTED_STRING`;

const refusal = (status: number, name: string, message = 'no') => ({
  status,
  json: { error: { code: status, status: name, message } },
});

describeStream(
  "a sheet's rows",
  read,
  {
    rows,
    columns: ['Day text', 'Paid decimal', 'Note text', 'Note_2 text', 'column5 boolean', 'Never text', 'column7 text'],
    asked: [about, part('A2:AB4'), part('A5:AB6')],
  },
  [
    {
      name: 'a spreadsheet that is not shared',
      faults: [{ at: 1, reply: refusal(403, 'PERMISSION_DENIED') }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login', next: expect.stringContaining('share the spreadsheet') },
    },
    {
      name: 'a missing spreadsheet',
      faults: [{ at: 1, reply: refusal(404, 'NOT_FOUND') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('`spreadsheet`') },
    },
    {
      name: 'an invalid range',
      faults: [{ at: 2, reply: refusal(400, 'INVALID_ARGUMENT') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
  ],
);

it('waits if the quota for the current minute is exhausted', async () => {
  const faults = [{ at: 2, reply: refusal(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded') }];
  const problem = await failService({ ...read, source: { ...read.source, retries: 0 }, faults });
  expect(problem).toMatchObject({ code: 'SERVICE_BUSY', family: 'try_later', retryAfterMs: 20_000 });
});

it('renews a token that expires between two parts of a sheet', async () => {
  const outcome = await runService({ ...read, guard: expiringAfter(2) });
  expect(outcome.rows).toEqual(rows);
  expect(outcome.login.refusals).toEqual(['token-1']);
});

it('keeps the rows of two parts of a sheet even if their cells are the same', async () => {
  const same: Cells = [['n'], [1], [1], [1], [1]];
  const routes = spreadsheet(id, { Same: { cells: same } });
  const outcome = await runService({ ...read, routes, query: { rows_per_request: 2 } });
  expect(outcome.rows).toEqual([['1'], ['1'], ['1'], ['1']]);
});

it('reads the first visible sheet by default, or only the requested range of another sheet', async () => {
  expect((await runService({ ...read, query: { stream: 'rows' } })).rows).toEqual([['3']]);
  const inside = { stream: 'rows', sheet: "Ann's orders", range: 'a3:b5', header: false };
  const outcome = await runService({ ...read, query: inside });
  expect(outcome.columns).toEqual(['column1 text', 'column2 integer']);
  expect(outcome.rows).toEqual([
    ['2026-01-06', '7'],
    ['2026-01-07', '0'],
  ]);
  expect(outcome.asked.at(-1)).toContain("?ranges='Ann''s orders'!A3:B5&majorDimension");
});

it('keeps the text that the sheet shows for a failed formula', async () => {
  const routes = spreadsheet(id, { Sums: { cells: [['sum'], [1.5], ['#DIV/0!'], [true]] } });
  const outcome = await runService({ ...read, routes, query: {} });
  expect(outcome).toMatchObject({ columns: ['sum text'], rows: [['1.5'], ['#DIV/0!'], ['true']] });
});

it('returns no rows for a table with only a header', async () => {
  const routes = spreadsheet(id, { Empty: { cells: [['a', 'b']], rows: 1000 } });
  expect((await runService({ ...read, routes, query: {} })).rows).toEqual([]);
  const bare = spreadsheet(id, { Bare: { cells: [['a', 'b']] } });
  expect((await runService({ ...read, routes: bare, query: {} })).rows).toEqual([]);
});

it("names the existing sheets if the requested one doesn't exist", async () => {
  expect(await failService({ ...read, query: { sheet: 'Order' } })).toMatchObject({
    code: 'SERVICE_REFUSED',
    family: 'config',
    seen: 'Order',
    allowed: "Cover, Summary, Ann's orders",
  });
});

it('lists the sheets', async () => {
  const outcome = await runService({ ...read, query: { stream: 'sheets' } });
  expect(outcome.columns).toEqual([
    'id integer',
    'title text',
    'position integer',
    'kind text',
    'rows integer',
    'columns integer',
    'hidden boolean',
  ]);
  expect(outcome.rows[0]).toEqual(['0', 'Cover', '0', 'GRID', '0', '26', 'true']);
  expect(outcome.rows[2]).toEqual(['2', "Ann's orders", '2', 'GRID', '6', '28', null]);
});

it('checks that the spreadsheet exists, by its URL or ID', async () => {
  expect(await checkServiceCase(read)).toBe('found the spreadsheet "Budget"');
  expect(await checkServiceCase({ ...read, source: { spreadsheet: ` ${id}` } })).toBe('found the spreadsheet "Budget"');
});
