import { createHash } from 'node:crypto';

/** An ID in the service's format, derived from the name. */
export const idOf = (name: string): string => createHash('sha256').update(`id ${name}`).digest('hex').slice(0, 32);
export const keyOf = (name: string): string => createHash('sha256').update(`key ${name}`).digest('hex').slice(0, 40);

/**
 * A word that can't occur by chance and that consists only of letters. Everything that an account stores contains its
 * word.
 */
export function markerOf(account: string): string {
  const hex = createHash('sha256').update(`marker ${account}`).digest('hex').slice(0, 20);
  return `q${hex.replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!)}q`;
}

/** A caller; `key` is null for a caller without one. */
export interface Caller {
  readonly name: string;
  readonly key: string | null;
  /** The names of the accounts whose markers this caller may see. */
  readonly sees: readonly string[];
  /** The account whose assets they use by default. */
  readonly account: string;
}

/** A company and its two clients, the first of which has its own users. */
export interface Family {
  readonly name: string;
  readonly accounts: readonly string[];
  readonly callers: readonly Caller[];
  /** An admin who is never removed, so that one user can always read everything. */
  readonly keeper: Caller;
}

export function familyOf(name: string): Family {
  const accounts = [name, `${name} one`, `${name} two`];
  const [, one] = accounts as [string, string, string];
  // Roles change during the calls, so any user in a company may get access to all of it.
  const own = (who: string, sees = accounts, account = name): Caller => ({
    name: `${name} ${who}`,
    key: keyOf(`${name} ${who}`),
    sees,
    account,
  });
  const keeper = own('keeper');
  const strangers = [
    { name: 'nobody', key: null, sees: [], account: name },
    { name: 'a caller with a wrong key', key: 'f'.repeat(40), sees: [], account: name },
  ];
  const callers = [
    // The user with the most permissions, whose calls are the most likely to succeed.
    ...Array<Caller>(4).fill(keeper),
    own('editor'),
    own('manager'),
    own('viewer'),
    // A company can give its clients its own assets.
    own('one admin', [name, one], one),
    own('one editor', [name, one], one),
    ...strangers,
  ];
  return { name, accounts, callers, keeper };
}

/** The fixtures of these companies. Each free-text field contains its account's marker. */
export function fixturesOf(families: readonly Family[]): object {
  return { companies: families.map(companyOf) };
}

function companyOf({ name, accounts: [, one, two] }: Family): object {
  return {
    ...accountOf(name, ['keeper Admin', 'editor Editor', 'manager Manager', 'viewer View-Only']),
    plan: 'grow',
    roles: [{ name: 'Manager', permissions: ['user.manage', 'client.access', 'dashboard.library', 'klip.import'] }],
    clients: [accountOf(one!, ['admin Admin', 'editor Editor']), accountOf(two!, [])],
  };
}

function accountOf(account: string, people: readonly string[]): object {
  const users = people.map((person) => {
    const [who, role] = person.split(' ') as [string, string];
    return userOf(account, who, role);
  });
  const members = users.slice(1).map(({ email }) => email);
  const marker = markerOf(account);
  return {
    id: idOf(account),
    name: `${account} ${marker}`,
    users,
    groups: [{ id: idOf(`${account} group`), name: `Group ${marker}`, members }],
  };
}

function userOf(account: string, who: string, role: string) {
  const marker = markerOf(account);
  return {
    id: idOf(`${account} ${who}`),
    email: `${who}@${marker}.test`,
    first_name: `First ${marker}`,
    last_name: `Last ${marker}`,
    role,
    api_keys: [keyOf(`${account} ${who}`)],
  };
}
