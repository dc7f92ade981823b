import { Problem } from '../lib/problem.ts';
import { excerpt } from '../lib/redact.ts';

/** Why a secret can't be read. */
export type SecretFailure =
  | 'CONFIG_SECRET_SETTINGS'
  | 'CONFIG_SECRET_MISSING'
  | 'CONFIG_SECRET_DENIED'
  | 'CONFIG_SECRET_UNAVAILABLE';

interface SecretProblemOptions {
  readonly message: string;
  readonly seen?: string | undefined;
  readonly allowed?: string | undefined;
  readonly next: string;
  readonly cause?: unknown;
}

/** The problem for a secret that can't be read. It must not contain any part of a secret's value. */
export function secretProblem(code: SecretFailure, details: SecretProblemOptions): Problem {
  return new Problem({ code, family: 'config', ...details });
}

/** How a provider failed to return a secret. */
const refusals = {
  CONFIG_SECRET_MISSING: 'has no secret',
  CONFIG_SECRET_DENIED: 'denied access to',
  CONFIG_SECRET_UNAVAILABLE: 'returned an unexpected response for',
};

type Refusal = keyof typeof refusals;

interface RefusedSecret extends Pick<SecretProblemOptions, 'seen'> {
  /** The provider as the subject of a sentence: `Google`. */
  readonly provider: string;
  readonly name: string;
  readonly advice: Readonly<Record<Refusal, Pick<SecretProblemOptions, 'allowed' | 'next'>>>;
}

/** The problem for a secret that a provider didn't return. */
export function refusedSecret(code: Refusal, { provider, name, seen, advice }: RefusedSecret): Problem {
  return secretProblem(code, { message: `${provider} ${refusals[code]} ${name}`, seen, ...advice[code] });
}

/** What an HTTP status means for most providers. */
export function refusalOf(status: number): Refusal {
  if (status === 404) return 'CONFIG_SECRET_MISSING';
  return status === 401 || status === 403 ? 'CONFIG_SECRET_DENIED' : 'CONFIG_SECRET_UNAVAILABLE';
}

/** A provider's error response as a string: the status, and the error's code and message. */
export function answerText(status: number, code: unknown, message: unknown): string {
  return [`status ${status}`, code, excerpt(String(message ?? ''), 300)].filter(Boolean).join(': ');
}
