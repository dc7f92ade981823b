import { option } from '#sdk';
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

/** The credentials of requests. */
export interface Auth {
  readonly kind: 'none' | 'basic' | 'bearer' | 'key' | 'client_credentials' | 'authorization_code' | 'login_call';
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Name of the header or query parameter that sends the key. */
  readonly name?: string;
  readonly value?: string;
  readonly in?: 'header' | 'query';
  /**
   * For client_credentials and authorization_code: the token endpoint. The client ID and the client secret are in
   * `login`.
   */
  readonly token_url?: string;
  readonly scopes?: readonly string[];
  readonly client_authentication?: 'body' | 'basic';
  readonly token_parameters?: Readonly<Record<string, string>>;
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
}

const secret = { type: 'string', writeOnly: true };
const texts = { type: 'object', additionalProperties: text };
const sideCall = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: text,
    method: { enum: ['GET', 'POST', 'PUT', 'DELETE'] },
    headers: texts,
    body: { type: ['object', 'array'] },
    form: texts,
  },
};

const byOAuth = 'client_credentials, authorization_code';

/** The option `auth` of a source. */
export const auth = option.schema<Auth>(
  closed({
    kind: { enum: ['none', 'basic', 'bearer', 'key', 'client_credentials', 'authorization_code', 'login_call'] },
    user: text,
    password: secret,
    token: secret,
    name: text,
    value: secret,
    in: { enum: ['header', 'query'], default: 'header' },
    token_url: { ...text, description: `${byOAuth}: URL of the token endpoint.` },
    scopes: { type: 'array', items: text, description: `${byOAuth}: scopes to request.` },
    client_authentication: {
      enum: ['body', 'basic'],
      description: `${byOAuth}: how to send the client ID and secret.`,
    },
    token_parameters: { ...texts, description: `${byOAuth}: extra parameters of the token request.` },
    authorize_url: { ...text, description: 'authorization_code: URL of the consent page.' },
    authorize_parameters: { ...texts, description: 'authorization_code: extra parameters of the consent page.' },
    device_url: {
      ...text,
      description: 'authorization_code: device authorization endpoint for `sluice login --code`.',
    },
    revoke_url: { ...text, description: 'authorization_code: revocation endpoint.' },
    pkce: { type: 'boolean', default: true, description: 'authorization_code: use PKCE (S256).' },
    call: { ...sideCall, description: 'login_call: the request that returns a token.' },
    token_path: { ...text, description: 'login_call: path of the token in its response.' },
    scheme: { ...text, description: 'login_call: prefix of the token. Default: `Bearer`, or none if `name` is set.' },
    logout: { ...sideCall, description: 'login_call: the request that ends the session after the run.' },
  }),
  {
    about:
      'Credentials: `basic` sends a user and password, `bearer` sends a token, `key` sends the name and value of a header or query parameter, `client_credentials` requests tokens from `token_url` (client ID and secret are in `login`), `authorization_code` requests them after a person has consented (`sluice login`), and `login_call` gets a token with a separate request.',
    example: { kind: 'bearer', token: `\${env:API_TOKEN}` },
    default: { kind: 'none' },
    secret: true,
  },
);
