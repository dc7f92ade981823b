import type { Problem } from '../../lib/problem.ts';
import type { Login } from '../config.ts';
import type { Document } from '../text/document.ts';
import { below } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import type { SourceResult } from './context.ts';

type Outcomes = ReadonlyMap<string, SourceResult>;

/**
 * Sources that share a login must agree on its account; their scopes may differ and are combined. Returns the sources
 * with combined scopes, without those that disagree with the first one of their login.
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
  return { results: new Map(results), problems };
}

function whoOf({ description, grant, clientId, subject, username, accountFile }: Login): string {
  return JSON.stringify([description.token_url, grant, clientId, subject, username, accountFile]);
}

function disagreement(source: string, first: string, document: Document): Problem {
  const faults = new Faults(document, { source });
  faults.add({
    code: 'CONFIG_LOGIN',
    message: `The sources ${first} and ${source} use one login for different users`,
    path: below(below('/sources', source), 'login'),
    on: 'key',
    next: 'give each login its own name, or use the same vendor, client_id, grant and user',
  });
  return faults.problems[0]!;
}
