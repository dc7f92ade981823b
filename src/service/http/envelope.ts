import type { ApiError } from './api-error.ts';

/** What an endpoint may add to `meta` beside success and status. */
export interface Meta {
  readonly location?: string;
  readonly instance_location?: string;
  readonly count?: number;
  readonly total?: number;
}

/** The body of every successful response. */
export function successBody(status: number, { data = {}, meta = {} }: { data?: object; meta?: Meta }): string {
  return JSON.stringify({ meta: { success: true, status, ...meta }, data });
}

/** The body of every error; it has no `data`. `id` is what the log line of the same error carries. */
export function errorBody(error: ApiError, id: string): string {
  return JSON.stringify({
    meta: {
      success: false,
      status: error.status,
      error_code: error.code,
      error_desc: error.message,
      error_id: id,
    },
  });
}
