import { instantText } from '../../lib/time-text.ts';
import { loginCommand } from '../../oauth/login-problems.ts';
import type { Condition, Snapshot } from './condition.ts';

/** Finds logins that only a user can renew, with the jobs that use them. */
export function loginConditions({ needy, overview, jobs }: Pick<Snapshot, 'needy' | 'overview' | 'jobs'>): Condition[] {
  return needy.map(({ login, sources, state, expires_at, message }) => {
    const using = [...new Set(sources)].join(', ');
    const ends = expires_at === undefined ? '' : ` at ${instantText(expires_at)}`;
    const endsSoon = state === 'ends soon';
    const why = endsSoon
      ? `the token expires${ends} and is not renewed automatically`
      : (message ?? 'no one has logged in');
    return {
      subject: `login:${login}`,
      kind: 'login',
      level: endsSoon ? 'warning' : 'error',
      since: overview.now,
      what: using === '' ? why : `${why}; used by ${using}`,
      jobs: jobs.filter(({ extract }) => extract?.source.login?.name === login).map(({ name }) => name),
      fix: loginCommand(sources[0] ?? login),
    };
  });
}
