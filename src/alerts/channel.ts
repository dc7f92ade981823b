import type { ChannelNamed, ChannelType } from '../config/alerts.ts';
import type { AlertEvent } from './compose.ts';

/** An alert on its way out. */
export interface Post {
  /** The same at every attempt, so that who gets it twice can tell. */
  readonly id: string;
  readonly event: AlertEvent;
  /** The event as it is kept: JSON. */
  readonly body: string;
}

/** What a channel has around it. */
export interface Surroundings {
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The config's folder: commands run there. */
  readonly folder: string;
}

/** What came of an attempt: what the other side said, and how long it wants to be left alone. */
export type Sent =
  | { readonly ok: true; readonly said: string }
  | { readonly ok: false; readonly said: string; readonly retryAfterMs?: number };

/** Hands one alert over. Never throws for what the other side does. */
export type Send<T extends ChannelType> = (channel: ChannelNamed<T>, post: Post, around: Surroundings) => Promise<Sent>;

/** How many times `timeout_seconds` an attempt may take as a whole: to connect, to hand over, to be answered. */
const wholeFactor = 3;

/** The same surroundings for one attempt, with an end: who says a little again and again would hold it for ever. */
export function limited(around: Surroundings, { timeout_seconds }: { readonly timeout_seconds: number }): Surroundings {
  const late = AbortSignal.timeout(wholeFactor * timeout_seconds * 1000);
  return { ...around, signal: AbortSignal.any([around.signal, late]) };
}
