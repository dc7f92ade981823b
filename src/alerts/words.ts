import type { Occasion } from '../config/alerts.ts';

/**
 * An occasion's headlines: one for a single subject, one for several subjects, and one for a recovery. `{}` is replaced
 * by the name or the number of the subjects.
 */
interface Words {
  readonly one: string;
  readonly worse?: string;
  readonly many: string;
  readonly over: string;
  readonly overMany: string;
}

/** The subject of the alert that the state isn't writable, whose occasion is `disk`. */
export const stateSubject = 'state';

const words: Readonly<Record<Occasion | typeof stateSubject, Words>> = {
  failed: {
    one: '{} failed',
    worse: '{} keeps failing',
    many: '{} jobs failed',
    over: '{} recovered',
    overMany: '{} jobs recovered',
  },
  stale: {
    one: '{} shows old data',
    many: '{} jobs show old data',
    over: '{} shows current data again',
    overMany: '{} jobs show current data again',
  },
  quarantined: {
    one: '{}: a payload is quarantined',
    many: '{} jobs: payloads are quarantined',
    over: '{}: no quarantined payloads',
    overMany: '{} jobs: no quarantined payloads',
  },
  dead: {
    one: '{}: the service permanently rejected a payload',
    many: '{} jobs: the service permanently rejected their payloads',
    over: '{}: no dead payloads',
    overMany: '{} jobs: no dead payloads',
  },
  quota: {
    one: '{}: the daily allowance is running out',
    worse: '{}: the daily allowance is used up',
    many: '{} accounts: the daily allowance is running out',
    over: '{}: requests are available again',
    overMany: '{} accounts: requests are available again',
  },
  login: {
    one: '{} needs a login',
    worse: '{} needs a login now',
    many: '{} logins require action',
    over: '{} is logged in',
    overMany: '{} logins work again',
  },
  credentials: {
    one: '{} refuses the credentials',
    many: '{} destinations refuse the credentials',
    over: '{} accepts the credentials again',
    overMany: '{} destinations accept the credentials again',
  },
  unsent: {
    one: '{}: payloads are not being delivered',
    many: '{} destinations: payloads are not being delivered',
    over: '{} accepts payloads again',
    overMany: '{} destinations accept payloads again',
  },
  scheduler: {
    one: 'the scheduler has stopped',
    many: 'the scheduler has stopped',
    over: 'the scheduler is running again',
    overMany: 'the scheduler is running again',
  },
  disk: {
    one: 'the state folder is filling up',
    worse: 'the state folder is full',
    many: 'the state folder is filling up',
    over: 'the state folder has free space again',
    overMany: 'the state folder has free space again',
  },
  state: {
    one: 'the state is not writable',
    many: 'the state is not writable',
    over: 'the state is writable again',
    overMany: 'the state is writable again',
  },
  source: {
    one: '{} does not respond',
    many: '{} sources do not respond',
    over: '{} responds again',
    overMany: '{} sources respond again',
  },
  config: {
    one: 'the active config differs from the config file',
    many: 'the active config differs from the config file',
    over: 'the active config matches the config file',
    overMany: 'the active config matches the config file',
  },
  clock: {
    one: 'the system clock was set',
    many: 'the system clock was set',
    over: 'the system clock has been stable for an hour',
    overMany: 'the system clock has been stable for an hour',
  },
  failover: {
    one: "the state's database may have lost its latest transactions",
    many: "the state's database may have lost its latest transactions",
    over: "the failover of the state's database was a day ago",
    overMany: "the failover of the state's database was a day ago",
  },
  files: {
    one: '{}: files cannot be moved or deleted after their delivery',
    many: '{} jobs: files cannot be moved or deleted after their delivery',
    over: '{}: Sluice can move or delete delivered files again',
    overMany: '{} jobs: Sluice can move or delete delivered files again',
  },
};

export interface HeadlineOptions {
  readonly names: readonly string[];
  /** Whether the alerts of all subjects have escalated (level 2). */
  readonly worse: boolean;
  readonly over: boolean;
}

/** The headline without a final period. */
export function headline(occasion: Occasion, { names, worse, over }: HeadlineOptions): string {
  const isOfState = occasion === 'disk' && names.includes(stateSubject);
  const { one, worse: worst = one, many, over: ended, overMany } = words[isOfState ? stateSubject : occasion];
  const single = names.length === 1;
  if (over) return (single ? ended : overMany).replace('{}', single ? names[0]! : String(names.length));
  return (single ? (worse ? worst : one) : many).replace('{}', single ? names[0]! : String(names.length));
}

/** The subject's name, such as `orders` for `job:orders`. */
export function nameOf(subject: string): string {
  return subject.includes(':') ? subject.slice(subject.indexOf(':') + 1) : subject;
}

/** The subject's kind, such as `job` for `job:orders`. */
export function kindOf(subject: string): string {
  return subject.includes(':') ? subject.slice(0, subject.indexOf(':')) : subject;
}
