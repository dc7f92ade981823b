import { Problem } from '../lib/problem.ts';

/** Why a secret can't be read. */
export type SecretFailure =
  | 'CONFIG_SECRET_SETTINGS'
  | 'CONFIG_SECRET_MISSING'
  | 'CONFIG_SECRET_DENIED'
  | 'CONFIG_SECRET_UNAVAILABLE';

interface Said {
  readonly message: string;
  readonly seen?: string | undefined;
  readonly allowed?: string | undefined;
  readonly next: string;
  readonly cause?: unknown;
}

/** A secret that can't be read. Nothing in it may come from the value of a secret. */
export function secretProblem(code: SecretFailure, said: Said): Problem {
  return new Problem({ code, family: 'config', ...said });
}
