import type { Readable } from 'node:stream';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Caller } from './auth/authenticate.ts';
import type { Permission } from './auth/permissions.ts';
import type { ServiceContext } from './context.ts';
import type { IncomingBody } from './http/body.ts';
import type { Meta } from './http/envelope.ts';
import { nothing, requested } from './http/fields.ts';
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

/** What an endpoint's `do` function returns: parts of the response envelope, or a stream that is sent unchanged. */
export type EndpointResult =
  | { readonly data?: object; readonly meta?: Meta }
  | { readonly stream: Readable; readonly headers: Readonly<Record<string, string>> & { readonly etag: string } };

/**
 * What the endpoint's behavior is based on: the service's public document or, where the document is silent, our own
 * decision.
 */
type Basis = 'document' | 'decided';

/**
 * One HTTP method on one path, declared as data plus the functions `find` and `do`. Every call runs the same steps in
 * this order: authenticate, count, allow, validate, scope (all from the declaration), find, do, respond. The OpenAPI
 * document is generated from the same declarations.
 */
export interface Endpoint {
  /** The operation's name in the OpenAPI document and in clients generated from it, such as `listKlips`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path relative to the base URL, with parameters in braces. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly basis: Basis;
  /**
   * For an endpoint in the public document: how we fill the document's gaps. For any other: what callers should know.
   */
  readonly decided?: string;
  /** The endpoint responds to every call with 400, because its path lacks an ID. */
  readonly refuses?: true;
  /** What clients might expect of the endpoint but isn't implemented. */
  readonly missing?: string;
  /**
   * Permissions, any one of which is sufficient unless {@link everyPermission} is set. If empty, every authenticated
   * caller may call.
   */
  readonly permission: readonly Permission[];
  /** Set if the public document specifies status 403 for a missing permission; otherwise, the status is 401. */
  readonly lacking?: 'forbidden';
  /** All permissions are required. */
  readonly everyPermission?: boolean;
  /** Whether `client_id` is accepted in the query and in a JSON body. Using `client_id` requires `client.access`. */
  readonly client: boolean;
  readonly query: TProperties;
  /** The fields of a JSON body. `data` means that the body is stored unparsed; if absent, the body isn't read. */
  readonly body?: TProperties | 'data';
  /** Undeclared members of a JSON body are stored. By default, they're ignored. */
  readonly keepsUnknown?: true;
  readonly answer: {
    readonly status: 200 | 201;
    /** `bytes` means that the response has no envelope. */
    readonly data: TSchema | 'bytes';
    /** Fields of `meta` in addition to those that every response with this status has. */
    readonly meta?: TProperties;
  };
  /**
   * Looks up the asset in the path. Throws an ApiError (404 or the documented status) if the caller can't see the
   * asset.
   */
  readonly find?: (call: ApiCall) => unknown;
  readonly do: (call: ApiCall, found: unknown) => EndpointResult | Promise<EndpointResult>;
}

/** A kind of asset and its endpoints. Each resource has a file in resources/. */
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
    /** Performs an action. The response has no data, except the operation's name if the path ends with `/@/NAME`. */
    | { readonly act: Handler<Q, B, F, unknown> }
  );

type Handler<Q extends TProperties, B, F, R> = (call: ApiCall<Static<TObject<Q>>, BodyOf<B>>, found: F) => R;

type BodyOf<B> = B extends TProperties ? Static<TObject<B>> : undefined;

/** Declares an endpoint and infers the types of its query, body and `find` result. Accepts `client_id` by default. */
export function defineEndpoint<
  F = undefined,
  Q extends TProperties = object & TProperties,
  B extends TProperties | 'data' = 'data',
>(declared: Declared<Q, B, F>): Endpoint {
  const acting = 'act' in declared && actionOf(declared);
  return { client: true, query: {}, ...declared, ...acting } as unknown as Endpoint;
}

function actionOf<A extends unknown[]>({
  path,
  act,
}: {
  path: string;
  act: (...given: A) => unknown;
}): Pick<Endpoint, 'answer'> & { do: (...given: A) => EndpointResult | Promise<EndpointResult> } {
  const name = /\/@\/([\w-]+)$/.exec(path)?.[1];
  return {
    answer: { status: 200, data: name === undefined ? nothing : requested(name) },
    do: resultOf(act, name === undefined ? {} : { data: { op_requested: name } }),
  };
}

function resultOf<A extends unknown[]>(
  act: (...given: A) => unknown,
  result: EndpointResult,
): (...given: A) => EndpointResult | Promise<EndpointResult> {
  return (...given) => {
    const acted = act(...given);
    return acted instanceof Promise ? acted.then(() => result) : result;
  };
}
