import { createHash, createHmac, randomUUID } from 'node:crypto';
import {
  type HttpRequest,
  lowerCased,
  Moment,
  registerSecret,
  renderDeep,
  retireSecret,
  type Scope,
  templateFault,
} from '#sdk';
import type { Auth } from './auth.ts';
import type { RequestSigner } from './request-signer.ts';

const defaultHeaders = { 'x-signature': '{{ signature }}' };

/** Signs the text that the config names, and adds the headers that it names. */
export class HmacSigner implements RequestSigner {
  readonly #auth: Auth;
  /** Registered as a secret, because it's valid as long as the server accepts the request. */
  #signature = '';

  constructor(auth: Auth) {
    this.#auth = auth;
    registerSecret(auth.secret ?? '');
  }

  async sign(request: HttpRequest): Promise<HttpRequest> {
    const { secret = '', algorithm = 'sha256', encoding = 'hex', message, headers = defaultHeaders } = this.#auth;
    const scope = scopeOf(request, this.#auth);
    const text = String(renderDeep(message, scope));
    retireSecret(this.#signature);
    this.#signature = createHmac(algorithm, secret).update(text, 'utf8').digest(encoding);
    registerSecret(this.#signature);
    const filled = renderDeep(headers, { ...scope, signature: this.#signature }) as Record<string, string>;
    return { ...request, trustedHeaders: { ...request.trustedHeaders, ...lowerCased(filled) } };
  }
}

/** The first error in the templates of an HMAC signature; undefined if there's none. */
export function hmacFault(auth: Auth): string | undefined {
  const { kind, message, headers = defaultHeaders } = auth;
  if (kind !== 'hmac' || message === undefined) return undefined;
  const scope = scopeOf(exampleRequest, { user: 'user' });
  return (
    faultIn('message', message, scope) ??
    Object.values(headers)
      .map((header) => faultIn('headers', header, { ...scope, signature: 'signature' }))
      .find((fault) => fault !== undefined)
  );
}

const exampleRequest = { method: 'GET', url: new URL('https://api.example.com/'), body: undefined };

/** A name without a value would make us sign an empty text. */
function faultIn(option: string, template: string, scope: Scope): string | undefined {
  const { request, ...others } = scope;
  const fault = templateFault(template, new Set(Object.keys(scope)));
  if (fault === undefined && renderDeep(template, scope) !== undefined) return undefined;
  const names = Object.keys(request as object).map((name) => `request.${name}`);
  const allowed = [...Object.keys(others), ...names].join(', ');
  return `of kind hmac has an error in \`${option}\`: ${fault ?? `unknown name in "${template}"`}; allowed are ${allowed}`;
}

/** The values for templates. `now` is the current time, not the run's. */
function scopeOf(request: Pick<HttpRequest, 'method' | 'url' | 'body'>, { user }: Pick<Auth, 'user'>): Scope {
  return { now: new Moment(Temporal.Now.zonedDateTimeISO('UTC'), false), user, request: partsOf(request) };
}

/** A request's parts, exactly as they are sent. */
function partsOf({ method, url, body = '' }: Pick<HttpRequest, 'method' | 'url' | 'body'>) {
  const digest = (algorithm: string) => createHash(algorithm).update(body, 'utf8');
  return {
    method,
    url: url.href,
    host: url.host,
    path: url.pathname,
    query: url.search.slice(1),
    path_and_query: `${url.pathname}${url.search}`,
    body,
    body_md5: digest('md5').digest('base64'),
    body_sha256: digest('sha256').digest('hex'),
    body_sha256_base64: digest('sha256').digest('base64'),
    nonce: randomUUID(),
  };
}
