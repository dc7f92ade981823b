import type { Template } from './template.ts';

/** One request, with templates. What has no value is left out, but for the path. */
export interface RequestData {
  /** GET, or POST where there is a body. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind the base, or a full address. */
  readonly path: Template;
  /** Another base than the service's. */
  readonly base?: Template;
  /** A list is a parameter that stands several times. */
  readonly query?: Readonly<Record<string, Template | readonly Template[]>>;
  readonly headers?: Readonly<Record<string, Template>>;
  /** Goes out without credentials and headers of the service: a file at an address that an answer named. */
  readonly bare?: boolean;
  /** The body, one of these. */
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, Template>>;
  readonly xml?: Template;
}
