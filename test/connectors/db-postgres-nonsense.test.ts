import { expect, it } from 'vitest';
import { check, problemOf, read } from './db-reader.ts';
import { startScripted } from './scripted-server.ts';

/** A message with its real length, or with the given one. */
function message(type: string, body: Buffer | string = '', length?: number): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(length ?? 4 + bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const number = (value: number): Buffer => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
const login = (type: number, rest = ''): Buffer => message('R', Buffer.concat([number(type), Buffer.from(rest)]));
const ready = message('Z', 'T');
const welcome = Buffer.concat([login(0), ready]);
/** One column `n` of type text. */
const oneColumn = message(
  'T',
  Buffer.concat([Buffer.from('\0\x01n\0'), Buffer.alloc(6), Buffer.from('000000190004ffffffff0000', 'hex')]),
);
const described = Buffer.concat([message('1'), message('t', '\0\0'), oneColumn, ready]);
const row = (cell: string): Buffer =>
  message('D', Buffer.concat([Buffer.from('\0\x01'), number(cell.length), Buffer.from(cell)]));
const bound = Buffer.concat([message('1'), message('2')]);
const done = message('C', 'SELECT 1\0');
/** The transaction has begun, and the server shows that it's read-only. */
const begun = Buffer.concat([message('C', 'BEGIN\0'), oneColumn, row('on'), message('C', 'SHOW\0'), ready]);

async function sourceAt(...answers: Buffer[]) {
  const port = await startScripted(answers);
  return { url: `postgres://a:b@127.0.0.1:${port}/c`, connect_timeout_seconds: 20 };
}

it('reads rows from a server that follows the protocol', async () => {
  const source = await sourceAt(welcome, begun, described, Buffer.concat([bound, row('x'), done]), ready, begun);
  expect(await read(source, 'select n from t')).toEqual({ columns: ['n text'], rows: [['x']] });
});

it.each([
  [2, 'Kerberos V5'],
  [6, 'SCM credentials'],
  [7, 'GSSAPI'],
  [9, 'SSPI'],
  [99, 'an unknown authentication method (99)'],
])('names an unsupported authentication method: %i', async (type, name) => {
  const problem = await problemOf(check(await sourceAt(login(type))));
  expect(problem).toMatchObject({ code: 'DB_LOGIN_REFUSED', family: 'login' });
  expect(problem.message).toContain(`the server requires ${name}, which Sluice does not support`);
});

it.each<[string, Buffer]>([
  ['an authentication message that is too short', message('R', '\0')],
  ['a length of 0', message('R', '', 0)],
  ['a negative length', message('R', '', -2)],
  ['a message larger than any except a row', message('S', 'x', 0x7fffffff)],
  ['a salt that is too short', login(5, 'ab')],
  ['an unterminated error', Buffer.concat([message('E', 'SFATAL\0C28000\0Mno'), Buffer.alloc(64)])],
  ['an empty error', message('E')],
  ['an unterminated notice', message('N', 'SNOTICE')],
  ['a stray parameter description', message('t')],
  ['an unknown message type', message('?', 'what')],
])('survives %s during the login', async (_, answer) => {
  const problem = await problemOf(check(await sourceAt(answer)));
  expect(problem).toMatchObject({ code: 'DB_PROTOCOL', family: 'try_later' });
});

it.each<[string, Buffer]>([
  ['a description that announces more columns than it contains', message('T', '\0\x05n\0')],
  ['a negative number of columns', message('T', '\xff\xff')],
  ['an unterminated error', message('E', 'SERROR\0Mno')],
])('survives %s before the rows', async (_, answer) => {
  const source = await sourceAt(welcome, begun, Buffer.concat([message('1'), answer, ready]));
  expect(await problemOf(read(source, 'select n from t'))).toMatchObject({ code: 'DB_PROTOCOL' });
});

it.each<[string, Buffer]>([
  ['a length of 0', Buffer.concat([bound, message('D', '', 0)])],
  ['a length that points backwards', Buffer.concat([bound, row('x'), message('D', '', -12)])],
  [
    'a cell that is longer than its row',
    Buffer.concat([bound, message('D', Buffer.from('0001000000ff78', 'hex')), done]),
  ],
  ['a cell of a negative length', Buffer.concat([bound, message('D', Buffer.from('0001fffffff078', 'hex')), done])],
  ['a row with trailing bytes', Buffer.concat([bound, message('D', Buffer.from('0001000000017878', 'hex')), done])],
  ['a row that is shorter than its header', Buffer.concat([bound, message('D'), done])],
  ['an unterminated error', Buffer.concat([bound, row('x'), message('E', 'SERROR\0Mno'), ready])],
  ['the end of the statement without the end of the rows', Buffer.concat([bound, row('x'), ready])],
  ['the end of the rows before their statement', Buffer.concat([done, ready])],
])('survives %s among the rows, and delivers none of them', async (_, answer) => {
  const source = await sourceAt(welcome, begun, described, answer, ready);
  expect(await problemOf(read(source, 'select n from t'))).toMatchObject({ code: 'DB_PROTOCOL' });
});

it.each<[type: number, cell: string]>([
  [17, 'one!'],
  [17, '\\x6'],
  [17, '\\x6869zz'],
  [17, '\\x68696x'],
  [16, 'x'],
  [16, 'true'],
  [1184, '2026-01-02 03:04:05+02'],
])('rejects a cell of type %i that PostgreSQL would not write: %s', async (type, cell) => {
  const column = Buffer.from(oneColumn);
  column.writeInt32BE(type, 15);
  const source = await sourceAt(
    welcome,
    begun,
    Buffer.concat([message('1'), message('t', '\0\0'), column, ready]),
    Buffer.concat([bound, row(cell), done]),
    ready,
    begun,
  );
  const problem = await problemOf(read(source, 'select n from t'));
  expect(problem).toMatchObject({ code: 'DB_VALUE_FORM', family: 'job', where: { row: 1, column: 'n' } });
});
