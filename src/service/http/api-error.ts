/** Why a call was refused, and the status that each reason has. Codes are stable: clients branch on them. */
export const refusals = {
  bad_request: 400,
  data_too_large: 400,
  auth_not_provided: 401,
  auth_fail: 401,
  permission_denied: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  daily_limit_reached: 429,
  internal_error: 500,
} as const;

type RefusalCode = keyof typeof refusals;

/** Thrown by any step to end the call with an error envelope. The message is shown to the caller. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = refusals[code];
    this.headers = headers;
  }
}

export const badRequest = (message: string): Refusal => new Refusal('bad_request', message);
export const forbidden = (message: string): Refusal => new Refusal('forbidden', message);
export const notFound = (message: string): Refusal => new Refusal('not_found', message);

/** The refusal of a caller whose role does not hold what the call needs. */
export function lacking(
  names: readonly string[],
  {
    word = 'or',
    code = 'permission_denied',
  }: { word?: 'and' | 'or'; code?: 'permission_denied' | 'forbidden' | undefined } = {},
): Refusal {
  return new Refusal(code, `This operation requires the permission ${names.join(` ${word} `)}`);
}
