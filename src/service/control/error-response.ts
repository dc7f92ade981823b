import { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { ApiError } from '../http/api-error.ts';

interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: object };
}

/** The response for a thrown error: `{"error": {code, message, …}}`, with every error of a fixtures file. */
export function errorResponse(thrown: unknown): ErrorResponse {
  if (thrown instanceof ApiError) {
    const { status, headers, code, message } = thrown;
    return { status, headers, body: { error: { code, message } } };
  }
  if (thrown instanceof Problem && thrown.family === 'config') {
    return {
      status: 400,
      headers: {},
      body: { error: { ...summaryOf(thrown), problems: problemsIn(thrown).map(summaryOf) } },
    };
  }
  const message = redact(thrown instanceof Error ? thrown.message : String(thrown));
  return { status: 500, headers: {}, body: { error: { code: 'internal_error', message } } };
}

function problemsIn(problem: Problem): readonly Problem[] {
  return problem.cause instanceof AggregateError ? (problem.cause.errors as Problem[]) : [problem];
}

function summaryOf({ code, message, where, seen, allowed, next }: Problem): object {
  return {
    code,
    message: redact(message),
    ...where,
    ...(seen && { seen: redact(seen) }),
    ...(allowed && { allowed }),
    ...(next && { next }),
  };
}
