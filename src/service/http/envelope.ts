import type { ApiError } from './api-error.ts';

/** Fields that an endpoint may add to the response's `meta`, in addition to success and status. */
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

/** The body of every error response, which has no `data`. The error's log line contains the same `id`. */
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
