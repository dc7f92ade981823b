import type { Readable } from 'node:stream';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Caller } from './auth/authenticate.ts';
import type { Permission } from './auth/permissions.ts';
import type { ServiceContext } from './context.ts';
import type { IncomingBody } from './http/body.ts';
import type { Meta } from './http/envelope.ts';
import { nothing } from './http/fields.ts';
import type { Account } from './store/accounts.ts';

/** A request that has been authenticated and counted. */
export interface AuthenticatedRequest {
  readonly context: ServiceContext;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The service's host and port, as sent by the client. */
  readonly host: string;
  /** The raw body, for endpoints that store it. */
  readonly incoming: IncomingBody;
}

/** An authenticated, counted, authorized and validated request. */
export interface ApiCall<Q = unknown, B = unknown> extends Omit<AuthenticatedRequest, 'query'> {
  /** The account that the call acts on: the caller's company, or the client named by `client_id`. */
  readonly account: Account;
  readonly query: Q;
  readonly body: B;
  /** The members of a JSON body as received, including undeclared ones; empty for any other body. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** What `do` returns: parts of the envelope, or a stream that is sent unchanged. */
export type EndpointResult =
  | { readonly data?: object; readonly meta?: Meta }
  | { readonly stream: Readable; readonly headers: Readonly<Record<string, string>> };

/** What the behavior is based on: the service's public document or, if it doesn't say, our own decision. */
type Basis = 'document' | 'decided';

/**
 * One method on one path, declared as data and two functions. Every call runs the same steps in this order:
 * authenticate, count, allow, validate, scope (all from the declaration), find, do, respond. The OpenAPI document is
 * generated from the same declarations.
 */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to the base URL, with parameters in braces. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly basis: Basis;
  /** For documented endpoints: how gaps in the document are filled. For others: what callers should know. */
  readonly decided?: string;
  /** What clients could expect that isn't implemented. */
  readonly missing?: string;
  /** Any one of these is sufficient, unless {@link everyPermission} is set; empty = every authenticated caller. */
  readonly permission: readonly Permission[];
  /** Set if the document specifies 403 for a missing permission; otherwise it's 401. */
  readonly lacking?: 'forbidden';
  /** All permissions are required. */
  readonly everyPermission?: boolean;
  /** Accepts `client_id` in the query and in a JSON body. Using it requires `client.access`. */
  readonly client: boolean;
  readonly query: TProperties;
  /** The fields of a JSON body; `data` = the body is stored unparsed; absent = the body isn't read. */
  readonly body?: TProperties | 'data';
  readonly answer: {
    readonly status: 200 | 201;
    /** `bytes` = the response isn't an envelope. */
    readonly data: TSchema | 'bytes';
  };
  /** Looks up the asset in the path. Throws an ApiError (404, or as documented) if the caller can't see it. */
  readonly find?: (call: ApiCall) => unknown;
  readonly do: (call: ApiCall, found: unknown) => EndpointResult | Promise<EndpointResult>;
}

/** A kind of asset and its endpoints; one file per resource in resources/. */
export interface Resource {
  readonly name: string;
  readonly summary: string;
  readonly endpoints: readonly Endpoint[];
}

type Declared<Q extends TProperties, B extends TProperties | 'data', F> = Omit<
  Endpoint,
  'query' | 'body' | 'find' | 'do' | 'client' | 'answer'
> & {
  readonly client?: boolean;
  readonly query?: Q;
  readonly body?: B;
  readonly find?: (call: ApiCall<Static<TObject<Q>>>) => F;
} & (
    | (Pick<Endpoint, 'answer'> & { readonly do: Handler<Q, B, F, EndpointResult | Promise<EndpointResult>> })
    /** Acts and responds with nothing. */
    | { readonly act: Handler<Q, B, F, unknown> }
  );

type Handler<Q extends TProperties, B, F, R> = (call: ApiCall<Static<TObject<Q>>, BodyOf<B>>, found: F) => R;

type BodyOf<B> = B extends TProperties ? Static<TObject<B>> : undefined;

/** Declares an endpoint and infers the types of query, body and `find`. Accepts `client_id` by default. */
export function defineEndpoint<
  F = undefined,
  Q extends TProperties = object & TProperties,
  B extends TProperties | 'data' = 'data',
>(declared: Declared<Q, B, F>): Endpoint {
  const acting = 'act' in declared && { answer: { status: 200, data: nothing }, do: resultOf(declared.act) };
  return { client: true, query: {}, ...declared, ...acting } as unknown as Endpoint;
}

function resultOf<A extends unknown[]>(act: (...given: A) => unknown): (...given: A) => object | Promise<object> {
  return (...given) => {
    const acted = act(...given);
    return acted instanceof Promise ? acted.then(() => ({})) : {};
  };
}
