import { type AssertionAlgorithm, assertionAlgorithms, type ClientAuthentication, option } from '#sdk';
import { closed, text } from './schemas.ts';

/** A request that returns or revokes a token. */
export interface SideCall {
  /** A path below the source's `url`, or a full URL. */
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string>>;
}

const kinds = [
  'none',
  'basic',
  'bearer',
  'key',
  'digest',
  'aws',
  'hmac',
  'client_credentials',
  'password',
  'jwt_bearer',
  'authorization_code',
  'login_call',
] as const;

/** The credentials of requests. */
export interface Auth {
  readonly kind: (typeof kinds)[number];
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Name of the header or query parameter that sends the key. */
  readonly name?: string;
  readonly value?: string;
  readonly in?: 'header' | 'query';
  /** For OAuth: the token endpoint. The client ID and the client secret are in `login`. */
  readonly token_url?: string;
  readonly scopes?: readonly string[];
  readonly client_authentication?: ClientAuthentication;
  readonly token_parameters?: Readonly<Record<string, string>>;
  /** For jwt_bearer and private_key_jwt: the assertion's algorithm and audience, and additional claims. */
  readonly algorithm?: string;
  readonly audience?: string;
  readonly claims?: Readonly<Record<string, string>>;
  /** For authorization_code: the authorization, device authorization and revocation endpoints. */
  readonly authorize_url?: string;
  readonly device_url?: string;
  readonly revoke_url?: string;
  readonly authorize_parameters?: Readonly<Record<string, string>>;
  readonly pkce?: boolean;
  /**
   * For login_call: the login request, the path of the token in the response, the token's prefix, and the logout
   * request.
   */
  readonly call?: SideCall;
  readonly token_path?: string;
  readonly scheme?: string;
  readonly logout?: SideCall;
  /** For aws: the access key, and what it's used for. */
  readonly access_key_id?: string;
  readonly secret_access_key?: string;
  readonly session_token?: string;
  readonly region?: string;
  readonly service?: string;
  /** For hmac: the key, the text to sign, and the headers that send the signature. */
  readonly secret?: string;
  readonly message?: string;
  readonly encoding?: 'hex' | 'base64' | 'base64url';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Hash functions of an HMAC signature. */
export const hmacAlgorithms = ['sha1', 'sha256', 'sha384', 'sha512'] as const;

const secret = { type: 'string', writeOnly: true };
const texts = { type: 'object', additionalProperties: text };

/** The options of a request that isn't for a page. */
export const sideCallProperties = {
  path: text,
  method: { enum: ['GET', 'POST', 'PUT', 'DELETE'] },
  headers: texts,
  body: { type: ['object', 'array'] },
  form: texts,
};
const sideCall = { type: 'object', additionalProperties: false, required: ['path'], properties: sideCallProperties };

const byOAuth = 'client_credentials, password, jwt_bearer, authorization_code';

/** The option `auth` of a source. */
export const auth = option.schema<Auth>(
  closed({
    kind: { enum: kinds },
    user: text,
    password: secret,
    token: secret,
    name: text,
    value: secret,
    in: { enum: ['header', 'query'], default: 'header' },
    token_url: { ...text, description: `${byOAuth}: URL of the token endpoint.` },
    scopes: { type: 'array', items: text, description: `${byOAuth}: scopes to request.` },
    client_authentication: {
      enum: ['body', 'basic', 'basic_plain', 'private_key_jwt'] satisfies ClientAuthentication[],
      default: 'body',
      description: `${byOAuth}: how to send the client ID and secret: in the body, in a Basic header (\`basic\` encodes them as the standard requires, \`basic_plain\` doesn't), or as an assertion signed with \`login.private_key\`.`,
    },
    token_parameters: { ...texts, description: `${byOAuth}: extra parameters of the token request.` },
    algorithm: {
      enum: [...assertionAlgorithms, ...hmacAlgorithms],
      description: `jwt_bearer, private_key_jwt: algorithm of the signature, default RS256. hmac: the hash function, default sha256.`,
    },
    audience: {
      ...text,
      description: 'jwt_bearer, private_key_jwt: audience of the assertion. Default: `token_url`.',
    },
    claims: { ...texts, description: 'jwt_bearer: extra claims of the assertion.' },
    authorize_url: { ...text, description: 'authorization_code: URL of the consent page.' },
    authorize_parameters: { ...texts, description: 'authorization_code: extra parameters of the consent page.' },
    device_url: {
      ...text,
      description: 'authorization_code: device authorization endpoint for `sluice login --code`.',
    },
    revoke_url: { ...text, description: 'authorization_code, password: revocation endpoint.' },
    pkce: { type: 'boolean', default: true, description: 'authorization_code: use PKCE (S256).' },
    call: { ...sideCall, description: 'login_call: the request that returns a token.' },
    token_path: {
      ...text,
      writeOnly: false,
      description:
        'login_call: where the token is in the response: a path in its body, `header(NAME)`, `cookie(NAME)`, or `cookies` for all of its cookies.',
    },
    scheme: { ...text, description: 'login_call: prefix of the token. Default: `Bearer`, or none if `name` is set.' },
    logout: { ...sideCall, description: 'login_call: the request that ends the session after the run.' },
    access_key_id: { ...text, description: 'aws: ID of the access key.' },
    secret_access_key: { ...secret, description: 'aws: the secret access key.' },
    session_token: { ...secret, description: 'aws: the session token of temporary credentials.' },
    region: { ...text, description: 'aws: region, such as eu-central-1.' },
    service: { ...text, description: 'aws: service name for the signature, such as execute-api.' },
    secret: { ...secret, description: 'hmac: the key that signs requests.' },
    message: {
      ...text,
      description: 'hmac: the text to sign, with templates such as `{{ request.method }}` and `{{ request.path }}`.',
    },
    encoding: { enum: ['hex', 'base64', 'base64url'], default: 'hex', description: 'hmac: encoding of the signature.' },
    headers: {
      ...texts,
      description:
        'hmac: headers to send, with the template `{{ signature }}`. Default: `{x-signature: "{{ signature }}"}`.',
    },
  }),
  {
    about:
      'Credentials: `basic` and `digest` send a user and password, `bearer` sends a token, `key` sends the name and value of a header or query parameter, `aws` and `hmac` sign each request, `client_credentials`, `password` and `jwt_bearer` request tokens from `token_url` (client ID, secret and private key are in `login`), `authorization_code` requests them after a person has consented (`sluice login`), and `login_call` gets a token or cookies with a separate request.',
    example: { kind: 'bearer', token: `\${env:API_TOKEN}` },
    default: { kind: 'none' },
    secret: true,
  },
);

const needed: Readonly<Record<Auth['kind'], readonly (keyof Auth)[]>> = {
  none: [],
  basic: ['user', 'password'],
  digest: ['user', 'password'],
  bearer: ['token'],
  key: ['name', 'value'],
  aws: ['access_key_id', 'secret_access_key', 'region', 'service'],
  hmac: ['secret', 'message'],
  client_credentials: ['token_url'],
  password: ['token_url'],
  jwt_bearer: ['token_url'],
  authorization_code: ['token_url', 'authorize_url'],
  login_call: ['call', 'token_path'],
};

/** Many APIs take a key as the user with an empty password, or as the password of an empty user. */
const mayBeEmpty: readonly (keyof Auth)[] = ['user', 'password'];

/** What is missing in `auth`, or doesn't fit its kind. */
export function authFaults(auth: Auth): string[] {
  const isMissing = (name: keyof Auth) => auth[name] === undefined || (auth[name] === '' && !mayBeEmpty.includes(name));
  const missing = needed[auth.kind].filter(isMissing).map((name) => `of kind ${auth.kind} requires ${name}`);
  const { kind, user, password, algorithm } = auth;
  if (kind === 'basic' && user === '' && password === '') {
    return ['of kind basic requires a user or a password: both are empty'];
  }
  const isHmac = hmacAlgorithms.includes(algorithm as (typeof hmacAlgorithms)[number]);
  if (algorithm !== undefined && kind === 'hmac' && !isHmac) {
    return [...missing, `of kind hmac does not support the algorithm ${algorithm}; use ${hmacAlgorithms.join(', ')}`];
  }
  if (algorithm !== undefined && kind !== 'hmac' && isHmac) {
    return [...missing, `of kind ${kind} does not support the algorithm ${algorithm}; use RS256, ES256 or another one`];
  }
  return missing;
}

/** The algorithm of an assertion; undefined for the default. */
export function assertionAlgorithmOf({ kind, algorithm }: Auth): AssertionAlgorithm | undefined {
  return kind === 'hmac' ? undefined : (algorithm as AssertionAlgorithm | undefined);
}
