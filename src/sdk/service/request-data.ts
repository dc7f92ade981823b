import type { Template } from './template.ts';

/** One request, with templates. Parts without a value are omitted, except the path. */
export interface RequestData {
  /** The method. Default: POST if there is a body, otherwise GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A path relative to the base URL, or a full URL. */
  readonly path: Template;
  /** A base URL that differs from the service's. */
  readonly base?: Template;
  /** A list repeats the parameter. */
  readonly query?: Readonly<Record<string, Template | readonly Template[]>>;
  readonly headers?: Readonly<Record<string, Template>>;
  /**
   * True if the request is sent without the service's credentials and headers, for a file whose URL is in a response.
   */
  readonly bare?: boolean;
  /** The body, one of these. */
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, Template>>;
  readonly xml?: Template;
}
