import { isMap } from '../../lib/is-map.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { GrantKind, OAuthDescription } from '../../sdk/oauth.ts';
import type { OptionSet, OptionValues } from '../../sdk/option.ts';
import type { Login } from '../config.ts';
import { isComplete, readOptions, type Values } from '../options/field.ts';
import { defaultRedirect, loginOptions } from '../options/login.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';
import { addressFault, fillDescription } from './oauth-description.ts';

type LoginValues = Values<typeof loginOptions>;

interface Draft {
  readonly source: string;
  readonly connector: Connector;
  readonly options: OptionValues<OptionSet>;
  readonly part: Part;
  readonly faults: Faults;
}

/** Parses a source's login. Returns undefined if the source doesn't use OAuth. Reports missing options. */
export function loadLogin(draft: Draft): Login | undefined {
  const { source, connector, options, part } = draft;
  const at = partAt(part, 'login');
  const described = connector.oauth?.(options);
  if (described === undefined) return at.value === undefined ? undefined : refuseLogin(draft);
  const description = fillDescription(described, options);
  if (!isMap(at.value)) return askForLogin(draft);
  const values = readOptions(loginOptions, at, draft.faults);
  if (!isComplete(loginOptions, values)) return undefined;
  const grant = values.grant ?? likelyGrant(values, description.grants);
  checkGrant(draft, { values, grant, description });
  const scopes = defaultScopes(description, grant);
  return { name: source, scopes, clientId: '', ...values, description, grant };
}

function defaultScopes({ scopes = [], person_scopes = [] }: OAuthDescription, grant: GrantKind): readonly string[] {
  return grant === 'authorization_code' ? [...scopes, ...person_scopes] : scopes;
}

function refuseLogin(draft: Draft): undefined {
  const message = 'This source does not use OAuth: its credentials are in other options';
  fault(draft, { message, next: 'delete "login" and set the credentials in the source\'s other options' });
}

function askForLogin({ connector, part, faults }: Draft): undefined {
  faults.add({
    code: 'CONFIG_MISSING_OPTION',
    message: `"login" is missing: ${connector.title} requires a login`,
    path: part.path,
    on: 'key',
    next: 'add a line: login: { client_id: …, client_secret: … }  # docs/oauth.md lists what each vendor requires',
  });
}

interface Chosen {
  readonly values: LoginValues;
  readonly grant: GrantKind;
  readonly description: OAuthDescription;
}

function checkGrant(draft: Draft, { values, grant, description }: Chosen): void {
  const offered = description.grants.join(', ');
  if (!description.grants.includes(grant)) {
    fault(draft, { message: `${draft.connector.title} does not support the "${grant}" grant`, allowed: offered });
    return;
  }
  for (const name of missing(partAt(draft.part, 'login'), grant, description)) {
    const message = `"${name}" is missing from "login": the ${grant} grant requires it`;
    fault(draft, { message, next: `add "${name}"; this vendor supports these grants: ${offered}` });
  }
  for (const address of [
    description.token_url,
    description.authorize_url,
    description.refresh_url,
    description.revoke_url,
    description.device?.url,
  ]) {
    const message = address === undefined ? undefined : addressFault(address);
    if (message !== undefined) fault(draft, { message, allowed: 'https://…' });
  }
  if (URL.parse(values.redirectUri) === null) {
    fault(draft, { message: 'The "redirect_uri" in "login" is not a valid URL', allowed: defaultRedirect });
  }
}

function fault({ part, faults }: Draft, details: { message: string; allowed?: string; next?: string }): void {
  faults.add({ code: 'CONFIG_LOGIN', path: partAt(part, 'login').path, on: 'key', ...details });
}

function likelyGrant(values: LoginValues, offered: readonly GrantKind[]): GrantKind {
  const isSigned = values.accountFile !== undefined || values.privateKey !== undefined;
  if (isSigned && offered.includes('jwt_bearer')) return 'jwt_bearer';
  if (values.password !== undefined && offered.includes('password')) return 'password';
  return offered[0] ?? 'authorization_code';
}

function missing(
  login: Part,
  grant: GrantKind,
  { assertion, client_authentication }: Pick<OAuthDescription, 'assertion' | 'client_authentication'>,
): string[] {
  const isAbsent = (name: keyof typeof loginOptions): boolean => partAt(login, name).value === undefined;
  const absent = (...names: (keyof typeof loginOptions)[]): string[] => names.filter(isAbsent);
  const isSigned = client_authentication === 'private_key_jwt';
  const key = assertion?.algorithm === 'HS256' ? 'client_secret' : 'private_key';
  const app = isSigned && isAbsent('account_file') ? absent('client_id', key) : absent('client_id');
  if (grant === 'client_credentials') return isSigned ? app : absent('client_id', 'client_secret');
  if (grant === 'password') return [...app, ...absent('username', 'password')];
  if (grant === 'authorization_code') return app;
  if (!isAbsent('account_file')) return [];
  return absent('client_id', key);
}
