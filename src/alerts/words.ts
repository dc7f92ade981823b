import type { Occasion } from '../config/alerts.ts';

/** How an occasion is said of one subject, of several, and when it is over. `{}` stands for the name or the number. */
interface Words {
  readonly one: string;
  readonly worse?: string;
  readonly many: string;
  readonly over: string;
  readonly overMany: string;
}

const words: Readonly<Record<Occasion, Words>> = {
  failed: {
    one: '{} failed',
    worse: '{} keeps failing',
    many: '{} jobs failed',
    over: '{} works again',
    overMany: '{} jobs work again',
  },
  stale: {
    one: '{} shows old data',
    many: '{} jobs show old data',
    over: '{} shows fresh data again',
    overMany: '{} jobs show fresh data again',
  },
  quarantined: {
    one: '{}: a result is held back',
    many: '{} jobs: results are held back',
    over: '{}: nothing is held back any more',
    overMany: '{} jobs: nothing is held back any more',
  },
  dead: {
    one: '{}: the service will not take a payload',
    many: '{} jobs: the service will not take their payloads',
    over: '{}: no dead payload is left',
    overMany: '{} jobs: no dead payload is left',
  },
  quota: {
    one: '{}: the requests of the day run short',
    worse: '{}: the requests of the day are used up',
    many: '{} accounts: the requests of the day run short',
    over: '{} has requests again',
    overMany: '{} accounts have requests again',
  },
  login: {
    one: '{} needs a login',
    worse: '{} needs a login now',
    many: '{} logins need a person',
    over: '{} is logged in',
    overMany: '{} logins are good again',
  },
  credentials: {
    one: '{} refuses our credentials',
    many: '{} destinations refuse our credentials',
    over: '{} takes our credentials again',
    overMany: '{} destinations take our credentials again',
  },
  unsent: {
    one: 'what is owed to {} does not get there',
    many: 'what is owed to {} destinations does not get there',
    over: '{} takes what is owed again',
    overMany: '{} destinations take what is owed again',
  },
  scheduler: {
    one: 'the schedules have stopped',
    many: 'the schedules have stopped',
    over: 'the schedules tick again',
    overMany: 'the schedules tick again',
  },
  disk: {
    one: 'the state folder fills up',
    worse: 'the state folder is full or cannot be written',
    many: 'the state folder fills up',
    over: 'the state folder has room again',
    overMany: 'the state folder has room again',
  },
  source: {
    one: '{} does not answer',
    many: '{} sources do not answer',
    over: '{} answers again',
    overMany: '{} sources answer again',
  },
  config: {
    one: 'the config is not in force as it is written',
    many: 'the config is not in force as it is written',
    over: 'the config is in force as it is written',
    overMany: 'the config is in force as it is written',
  },
  clock: {
    one: 'the clock of the machine was set',
    many: 'the clock of the machine was set',
    over: 'the clock has not been set for an hour',
    overMany: 'the clock has not been set for an hour',
  },
};

export interface Said {
  readonly names: readonly string[];
  /** All of them at their second level. */
  readonly worse: boolean;
  readonly over: boolean;
}

/** The headline, without a full stop. */
export function headline(occasion: Occasion, { names, worse, over }: Said): string {
  const { one, worse: worst = one, many, over: ended, overMany } = words[occasion];
  const single = names.length === 1;
  if (over) return (single ? ended : overMany).replace('{}', single ? names[0]! : String(names.length));
  return (single ? (worse ? worst : one) : many).replace('{}', single ? names[0]! : String(names.length));
}

/** `job:orders` is called orders. */
export function nameOf(subject: string): string {
  return subject.includes(':') ? subject.slice(subject.indexOf(':') + 1) : subject;
}

/** `job:orders` is a job. */
export function kindOf(subject: string): string {
  return subject.includes(':') ? subject.slice(0, subject.indexOf(':')) : subject;
}
