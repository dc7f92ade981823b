import type { ChannelNamed, ChannelType } from '../config/alerts.ts';
import type { AlertEvent } from './compose.ts';

/** An alert to send. */
export interface Post {
  /** The same in every attempt, so that receivers can detect duplicates. */
  readonly id: string;
  readonly event: AlertEvent;
  /** The event as it is kept: JSON. */
  readonly body: string;
}

/** The context of a channel. */
export interface Surroundings {
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The config's folder: commands run there. */
  readonly folder: string;
}

/** The result of an attempt: the response, and the requested wait before the next one. */
export type Sent =
  | { readonly ok: true; readonly message: string }
  | { readonly ok: false; readonly message: string; readonly retryAfterMs?: number };

/** Sends one alert. Never throws because of the receiver. */
export type Send<T extends ChannelType> = (channel: ChannelNamed<T>, post: Post, around: Surroundings) => Promise<Sent>;

/** Overall timeout of an attempt, as a multiple of `timeout_seconds`. */
const wholeFactor = 3;

/** Adds an overall timeout for one attempt, because a slow peer can reset idle timeouts forever. */
export function limited(around: Surroundings, { timeoutMs }: { readonly timeoutMs: number }): Surroundings {
  const late = AbortSignal.timeout(wholeFactor * timeoutMs);
  return { ...around, signal: AbortSignal.any([around.signal, late]) };
}
