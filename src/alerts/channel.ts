import type { Values } from '../config/options/field.ts';
import type { OptionSet } from '../sdk/option.ts';

/** A condition in JSON. Times are ISO 8601. */
export interface Wrong extends Record<string, unknown> {
  readonly since: string;
  readonly what: string;
}

/** The event that channels deliver and the state stores. */
export interface AlertEvent {
  readonly type: 'alert.opened' | 'alert.worse' | 'alert.reminder' | 'alert.recovered' | 'alert.test';
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    /** One line. */
    readonly title: string;
    /** The full text, several lines. */
    readonly text: string;
    readonly occasion?: string;
    /** Number of open conditions. */
    readonly open: number;
    /** The first open conditions. */
    readonly alerts: readonly Wrong[];
    /** Names of the first recovered subjects. */
    readonly recovered: readonly string[];
    readonly host: string;
    /** Path of the config. */
    readonly config: string;
  };
}

/** An alert to send. */
export interface Post {
  /** The same in every attempt, so that receivers can detect duplicates. */
  readonly id: string;
  readonly event: AlertEvent;
  /** The stored event: JSON. */
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

/** A type of alert channel: one file in `channels/`. */
export interface ChannelKind<O extends OptionSet = OptionSet> {
  /** Besides `type`; every channel has `timeout_seconds`. */
  readonly options: O;
  /** Sends one alert. Never throws because of the receiver. Absent if the channel does not accept alerts. */
  send?(channel: Values<O>, post: Post, around: Surroundings): Promise<Sent>;
}

/** Declares a type of channel; the identity function, there to infer the option types. */
export function defineChannel<const O extends OptionSet>(channel: ChannelKind<O>): ChannelKind<O> {
  return channel;
}

/** Overall timeout of an attempt, as a multiple of `timeout_seconds`. */
const wholeFactor = 3;

/** Adds an overall timeout for one attempt, because a slow peer can reset idle timeouts forever. */
export function limited(around: Surroundings, { timeoutMs }: { readonly timeoutMs: number }): Surroundings {
  const late = AbortSignal.timeout(wholeFactor * timeoutMs);
  return { ...around, signal: AbortSignal.any([around.signal, late]) };
}
