import type { Readable } from 'node:stream';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Caller } from './auth/authenticate.ts';
import type { Permission } from './auth/permissions.ts';
import type { ServiceContext } from './context.ts';
import type { IncomingBody } from './http/body.ts';
import type { Meta } from './http/envelope.ts';
import type { Account } from './store/accounts.ts';

/** One request that has been authenticated, counted, allowed and validated. */
export interface ApiCall<Q = unknown, B = unknown> {
  readonly context: ServiceContext;
  readonly caller: Caller;
  /** Whose assets are meant: the caller's company, or the client named by `client_id`. */
  readonly account: Account;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The members of a JSON body as received, including undeclared ones; empty for any other body. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Host and port that the caller reached the service by, as they named it. */
  readonly host: string;
  /** The body as it comes, for the endpoints that store it. */
  readonly incoming: IncomingBody;
}

/** What `do` gives back: the envelope's parts, or bytes that go out as they are. */
export type EndpointResult =
  | { readonly data?: object; readonly meta?: Meta }
  | { readonly stream: Readable; readonly headers: Readonly<Record<string, string>> };

/** Where the behaviour is laid down: the service's document, or a decision where the document is silent. */
type Basis = 'document' | 'decided';

/**
 * One method on one path, as data and two functions. The steps of every call, in this order: authenticate, count,
 * allow, validate, scope (all from what is declared here), find, do, answer. OpenAPI is made of the same declarations.
 */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to the base URL, parameters in braces. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly basis: Basis;
  /** Of what the document lays down: which of its gaps is filled here, and how. Of the rest: what is worth knowing. */
  readonly decided?: string;
  /** What a client could expect here and does not get. */
  readonly missing?: string;
  /** Any one of these is enough, unless {@link everyPermission}; none = every authenticated caller. */
  readonly permission: readonly Permission[];
  /** What a caller without the permission is told where the document says 403; else it is 401. */
  readonly lacking?: 'forbidden';
  /** All of the permissions are needed. */
  readonly everyPermission?: boolean;
  /** Takes `client_id` in the query, and in a JSON body. Naming one needs `client.access`. */
  readonly client: boolean;
  readonly query: TProperties;
  /** The fields of a JSON body; `data` = the body is stored as it comes; absent = no body is read. */
  readonly body?: TProperties | 'data';
  readonly answer: {
    readonly status: 200 | 201;
    /** `bytes` = not an envelope. */
    readonly data: TSchema | 'bytes';
  };
  /** Looks up what the path names; refuses with 404 (or what the document's table says) when the caller may not see it. */
  readonly find?: (call: ApiCall) => unknown;
  readonly do: (call: ApiCall, found: unknown) => EndpointResult | Promise<EndpointResult>;
}

/** A kind of asset: its name and everything that can be done with it over HTTP. One file of resources/ each. */
export interface Resource {
  readonly name: string;
  readonly summary: string;
  readonly endpoints: readonly Endpoint[];
}

interface Declared<Q extends TProperties, B extends TProperties | 'data', F>
  extends Omit<Endpoint, 'query' | 'body' | 'find' | 'do' | 'client'> {
  readonly client?: boolean;
  readonly query?: Q;
  readonly body?: B;
  readonly find?: (call: ApiCall<Static<TObject<Q>>>) => F;
  readonly do: (call: ApiCall<Static<TObject<Q>>, BodyOf<B>>, found: F) => EndpointResult | Promise<EndpointResult>;
}

type BodyOf<B> = B extends TProperties ? Static<TObject<B>> : undefined;

/** Declares an endpoint; there to infer the types of query, body and what was found. Takes `client_id` unless told. */
export function defineEndpoint<
  F = undefined,
  Q extends TProperties = object & TProperties,
  B extends TProperties | 'data' = 'data',
>(declared: Declared<Q, B, F>): Endpoint {
  return { client: true, query: {}, ...declared } as unknown as Endpoint;
}
