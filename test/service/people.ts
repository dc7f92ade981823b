import { permissions } from '../../src/service/auth/permissions.ts';
import { type Answer, type Bench, bench, fixtures } from './service.ts';

/** A user who manages other users without being an admin. */
export const managerKey = 'a5'.repeat(20);

const [acme, ...others] = fixtures.companies;
const manager = {
  id: 'acme-manager',
  email: 'mo@acme.test',
  role: 'Manager',
  api_keys: [managerKey],
};

/** The fixtures plus a manager, who isn't an Admin and has all permissions except those for clients. */
export const withManager = {
  companies: [
    {
      ...acme!,
      roles: [
        ...acme!.roles!,
        { name: 'Manager', permissions: permissions.filter((name) => !name.startsWith('client.')) },
      ],
      users: [...acme!.users!, manager],
    },
    ...others,
  ],
};

export const peopleBench = (): Promise<Bench> => bench({ given: withManager });

export const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];

/** Creates something; returns its ID. */
export async function make(given: Bench, path: string, body: object, key?: string): Promise<string> {
  const answer = await given.call('POST', path, { body, ...(key === undefined ? {} : { key }) });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.meta.location!.split('/').at(-1)!;
}

export const dataOf = async (given: Bench, path: string): Promise<Record<string, unknown>> =>
  (await given.call('GET', path)).body.data;

/** The IDs of an account's roles by name. */
export async function roleIds(given: Bench, query = ''): Promise<Record<string, string>> {
  const { roles } = (await dataOf(given, `/roles${query}`)) as { roles: { id: string; name: string }[] };
  return Object.fromEntries(roles.map(({ id, name }) => [name, id]));
}

/** Names that break code that assumes ASCII. */
export const hostileNames = [
  'Ünï çødé',
  '名前',
  '👩‍👩‍👧',
  "x'; drop table users;--",
  '\u202eabc',
  '{props.x}',
  '__proto__',
  'a\u0000b',
];

/**
 * Reads a list page by page. Checks that the pages add up to the whole list, in a stable order and with the right
 * counts.
 */
export async function pagesOf(given: Bench, path: string, key: string): Promise<unknown[]> {
  const at = (query: string): Promise<Answer> => given.call('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
  const whole = await at('limit=100');
  const items = whole.body.data[key] as unknown[];
  const first = await at('limit=1');
  const rest = await at(`limit=100&offset=1`);
  const past = await at('offset=1000');
  const joined = [first, rest].flatMap(({ body }) => body.data[key] as unknown[]);
  const numbers = [whole, first, rest, past].map(({ body }) => [body.meta.count, body.meta.total]);
  const n = items.length;
  if (JSON.stringify(joined) !== JSON.stringify(items)) throw new Error(`pages of ${path} differ from the whole`);
  const expected = [
    [n, n],
    [Math.min(1, n), n],
    [Math.max(0, n - 1), n],
    [0, n],
  ];
  if (JSON.stringify(numbers) !== JSON.stringify(expected)) throw new Error(`numbers of ${path}: ${numbers.join(' ')}`);
  return items;
}
