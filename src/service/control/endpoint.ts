import type { Static, TObject, TProperties } from 'typebox';
import type { ControlContext } from './context.ts';

/** An authorized request to the control interface, with validated fields. */
export interface ControlCall<Q = unknown, B = unknown> {
  readonly context: ControlContext;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  /** The fields of a JSON body, or the body as a string. */
  readonly body: B;
  /** Aborted when the client disconnects or the service stops. */
  readonly signal: AbortSignal;
}

/** The JSON response. Its default status is the one that the endpoint declares. */
export interface ControlResult {
  readonly data: object;
  readonly status?: number;
}

/** One method on one path of the control interface, declared like the service's own endpoints. */
export interface ControlEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: `/${string}`;
  readonly summary: string;
  readonly query: TProperties;
  /** The fields of a JSON body, or `text` for the body as a string. If absent, the body isn't read. */
  readonly body?: TProperties | 'text';
  readonly status: 200 | 201;
  readonly do: (call: ControlCall) => ControlResult | Promise<ControlResult>;
}

interface Declared<Q extends TProperties, B extends TProperties | 'text'>
  extends Omit<ControlEndpoint, 'query' | 'body' | 'status' | 'do'> {
  readonly query?: Q;
  readonly body?: B;
  readonly status?: 200 | 201;
  readonly do: (call: ControlCall<Static<TObject<Q>>, BodyOf<B>>) => ControlResult | Promise<ControlResult>;
}

type BodyOf<B> = B extends TProperties ? Static<TObject<B>> : string;

/** Declares an endpoint and infers the types of query and body. */
export function defineControl<Q extends TProperties = object & TProperties, B extends TProperties | 'text' = 'text'>(
  declared: Declared<Q, B>,
): ControlEndpoint {
  return { query: {}, status: 200, ...declared } as unknown as ControlEndpoint;
}
