/** Error codes and their HTTP statuses. Codes are stable: clients branch on them. */
export const errorStatuses = {
  bad_request: 400,
  data_too_large: 400,
  auth_not_provided: 401,
  auth_fail: 401,
  permission_denied: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  precondition_failed: 412,
  rate_limited: 429,
  daily_limit_reached: 429,
  internal_error: 500,
} as const;

type ApiErrorCode = keyof typeof errorStatuses;

/** Any step can throw this to end the call with an error response. The caller sees the message. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ApiErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = errorStatuses[code];
    this.headers = headers;
  }
}

export const badRequest = (message: string): ApiError => new ApiError('bad_request', message);
export const forbidden = (message: string): ApiError => new ApiError('forbidden', message);
export const notFound = (message: string): ApiError => new ApiError('not_found', message);
export const preconditionFailed = (message: string): ApiError => new ApiError('precondition_failed', message);

/** Creates the error for a caller whose role doesn't have the permission. */
export function missingPermission(
  names: readonly string[],
  {
    word = 'or',
    code = 'permission_denied',
  }: { word?: 'and' | 'or'; code?: 'permission_denied' | 'forbidden' | undefined } = {},
): ApiError {
  return new ApiError(code, `This operation requires the permission ${names.join(` ${word} `)}`);
}
