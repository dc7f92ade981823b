import type { Problem } from '../../lib/problem.ts';
import type { Login, Source } from '../config.ts';
import { below, type Document } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import type { SourceResult } from './context.ts';

type Outcomes = ReadonlyMap<string, SourceResult>;

/**
 * Sources that share a login must use the same account, but their scopes may differ and are combined. Returns the
 * sources with the combined scopes. Excludes each source whose account differs from that of the login's first source.
 */
export function joinLogins(sources: Outcomes, document: Document): { results: Outcomes; problems: Problem[] } {
  const logins = [...sources].flatMap(([source, { value }]) => (value?.login ? [{ source, login: value.login }] : []));
  const sharing = Map.groupBy(logins, ({ login }) => login.name);
  const problems: Problem[] = [];
  const results = [...sources].map(([source, result]): [string, SourceResult] => {
    const { value, connector } = result;
    if (value?.login === undefined) return [source, result];
    const group = sharing.get(value.login.name)!;
    if (whoOf(value.login) !== whoOf(group[0]!.login)) {
      const problem = disagreement(source, group[0]!.source, document);
      problems.push(problem);
      return [source, { problems: [problem], connector }];
    }
    const scopes = [...new Set(group.flatMap(({ login }) => login.scopes))];
    return [source, { ...result, value: { ...value, login: { ...value.login, scopes } } }];
  });
  for (const members of Map.groupBy(results, ([, { value }]) => value?.login?.name).values()) shareRenewals(members);
  return { results: new Map(results), problems };
}

/**
 * A login's tokens may be requested with the secrets of any of its sources, so all of these sources get the new values.
 */
function shareRenewals(members: readonly [string, SourceResult][]): void {
  const sources = members.flatMap(([, { value }]) => (value?.login === undefined ? [] : [value]));
  for (const source of sources as { -readonly [K in keyof Source]: Source[K] }[]) {
    const { renew } = source;
    if (renew === undefined || sources.length === 1) continue;
    source.renew = async (own) => {
      await renew(own);
      const { clientSecret, privateKey, password } = own.login!;
      for (const { login } of sources) Object.assign(login!, { clientSecret, privateKey, password });
    };
  }
}

function whoOf({ description, grant, clientId, subject, username, accountFile }: Login): string {
  return JSON.stringify([description.token_url, grant, clientId, subject, username, accountFile]);
}

function disagreement(source: string, first: string, document: Document): Problem {
  const faults = new Faults(document, { source });
  faults.add({
    code: 'CONFIG_LOGIN',
    message: `The ${first} and ${source} sources share a login name, but log in as different users`,
    path: below(below('/sources', source), 'login'),
    on: 'key',
    next: 'give each login its own name, or use the same vendor, client_id, grant and user',
  });
  return faults.problems[0]!;
}
