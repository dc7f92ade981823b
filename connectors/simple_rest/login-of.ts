import {
  type AnswerPath,
  type LoginData,
  type OAuthDescription,
  parsePlace,
  placeFault,
  type RequestData,
  registerSecret,
  type ServiceAnswer,
  secretName,
} from '#sdk';
import { type Auth, assertionAlgorithmOf, type SideCall } from './auth.ts';

/** Converts `auth` to an SDK login. The credentials of methods without a token are added directly to the requests. */
export function loginOf(auth: Auth): LoginData {
  const oauth = describedLogin(auth);
  if (oauth !== undefined) return { kind: 'oauth', oauth };
  if (auth.kind !== 'login_call') return { kind: 'none' };
  const { call, token_path = '', logout } = auth;
  registerWithin([call, logout]);
  const { token, name, scheme } = placesOf(auth, token_path);
  const value = scheme === '' ? '{{ login.token }}' : `${scheme} {{ login.token }}`;
  return {
    kind: 'session',
    call: dataOf(call!),
    token,
    place: `\`${token_path}\``,
    ...(auth.in === 'query' ? { query: { [name]: '{{ login.token }}' } } : { headers: { [name]: value } }),
    logout: logout === undefined ? undefined : dataOf(logout),
  };
}

interface TokenPlaces {
  readonly token: AnswerPath | ((answer: ServiceAnswer) => string | undefined);
  /** The header or query parameter that sends the token. */
  readonly name: string;
  readonly scheme: string;
}

function placesOf(auth: Auth, path: string): TokenPlaces {
  const { name = 'authorization' } = auth;
  const scheme = auth.scheme ?? (auth.name === undefined ? 'Bearer' : '');
  if (path === 'cookies') return { token: cookiesIn, name: auth.name ?? 'cookie', scheme: auth.scheme ?? '' };
  const [, cookie] = /^cookie\(\s*([^)]+?)\s*\)$/.exec(path) ?? [];
  if (cookie === undefined) return { token: answerPathOf(path), name, scheme };
  const prefix = `${cookie}=`;
  const pair = (answer: ServiceAnswer) => (cookiesIn(answer) ?? '').split('; ').find((one) => one.startsWith(prefix));
  if (auth.name === undefined) return { token: pair, name: 'cookie', scheme: '' };
  return { token: (answer) => pair(answer)?.slice(prefix.length), name, scheme };
}

/** The place of a value in the response to a login call or to a report's call. */
export function answerPathOf(place: string): AnswerPath {
  return { place: parsePlace(place) };
}

/** Why a text can't be a place in such a response; undefined if it can. */
export function answerPathFault(place: string): string | undefined {
  if (/^last_record\(/.test(place)) return `"${place}" is in a record, but this response has none`;
  return placeFault(place, '');
}

/** Why `token_path` isn't usable; undefined if it is. */
export function tokenPathFault({ kind, token_path = '' }: Auth): string | undefined {
  const isPlace = kind === 'login_call' && token_path !== '' && !/^cookie(?:s$|\()/.test(token_path);
  const fault = isPlace ? answerPathFault(token_path) : undefined;
  return fault && `has an unusable token_path: ${fault}`;
}

/** Whether the token is in the response's headers, which are lost if the login's redirect is followed. */
export function isTokenInHeaders({ token_path = '' }: Auth): boolean {
  return token_path === 'cookies' || /^(header|cookie)\(/.test(token_path);
}

/** `set-cookie` as {@link cookiePairs} returns it. */
function cookiesIn({ headers }: ServiceAnswer): string | undefined {
  return headers['set-cookie'] || undefined;
}

/**
 * The Cookie header that sends a response's cookies back (RFC 6265, 5.4), without those that the response deletes. They
 * are sent only to the origin of the login, so their domain and path don't matter.
 */
export function cookiePairs(setCookies: readonly string[]): string {
  const alive = setCookies.filter((cookie) => !/;\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)/i.test(cookie));
  const pairs = alive.map((cookie) => cookie.split(';')[0]!.trim()).filter((pair) => /^[^=]+=./.test(pair));
  for (const pair of pairs) registerSecret(pair.slice(pair.indexOf('=') + 1));
  return pairs.join('; ');
}

/** Registers a login call's secrets, which are nested in `auth` and identified by their names. */
function registerWithin(value: unknown, name = ''): void {
  if (typeof value === 'string' && secretName.test(name)) registerSecret(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [inner, one] of Object.entries(value)) registerWithin(one, Array.isArray(value) ? name : inner);
}

/** Converts a call in the options to the SDK's request. */
export function dataOf({ path, method, headers, body, form }: SideCall): RequestData {
  return {
    path,
    method,
    headers,
    json: body,
    form,
  };
}

/** The OAuth description of the kinds that request tokens from `token_url`; undefined for all other kinds. */
export function describedLogin(auth: Auth): OAuthDescription | undefined {
  const { kind, token_url, scopes, client_authentication, token_parameters, audience, claims } = auth;
  if (token_url === undefined) return undefined;
  const algorithm = assertionAlgorithmOf(auth);
  const isSigned = kind === 'jwt_bearer' || client_authentication === 'private_key_jwt';
  const assertion = isSigned ? { assertion: { algorithm, audience, claims } } : {};
  const shared = { token_url, scopes, client_authentication, token_parameters, ...assertion };
  const { authorize_url, authorize_parameters, revoke_url, device_url, pkce = true } = auth;
  if (kind === 'client_credentials' || kind === 'jwt_bearer') return { ...shared, grants: [kind], refresh: 'none' };
  // Treats all refresh tokens as single-use. This also works if they can be used more than once.
  const rotating = { refresh: 'rotating' as const, revoke_url };
  if (kind === 'password') return { ...shared, ...rotating, grants: [kind] };
  if (kind !== 'authorization_code') return undefined;
  const device = device_url === undefined ? undefined : { url: device_url };
  return { ...shared, ...rotating, grants: [kind], pkce, authorize_url, authorize_parameters, device };
}
