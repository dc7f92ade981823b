import type { Values } from '../config/options/field.ts';
import type { OptionSet } from '../sdk/option.ts';

/** A condition in JSON. Times are in ISO 8601 format. */
export interface Wrong extends Record<string, unknown> {
  readonly since: string;
  readonly what: string;
}

/** The event that channels deliver and that is stored in the state. */
export interface AlertEvent {
  readonly type: 'alert.opened' | 'alert.worse' | 'alert.reminder' | 'alert.recovered' | 'alert.test';
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    readonly title: string;
    /** The full text, several lines. */
    readonly text: string;
    readonly occasion?: string;
    readonly open: number;
    /** The first open conditions. */
    readonly alerts: readonly Wrong[];
    /** Names of the first few subjects that have recovered. */
    readonly recovered: readonly string[];
    readonly host: string;
    /** Path of the config. */
    readonly config: string;
  };
}

/** An alert to send. */
export interface Post {
  /** The ID is the same in every attempt, so that receivers can detect duplicates. */
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
  /** The config's folder, in which commands are run. */
  readonly folder: string;
}

/**
 * The result of an attempt: the response, and how long to wait before the next attempt if the receiver asks for that.
 */
export type Sent =
  | { readonly ok: true; readonly message: string }
  | { readonly ok: false; readonly message: string; readonly retryAfterMs?: number };

/** A type of alert channel. Each type has its own file in `channels/`, and has either `send` or `ping`. */
export interface ChannelKind<O extends OptionSet = OptionSet> {
  /** The options in addition to `type`. Every channel also has `timeout_seconds`. */
  readonly options: O;
  /** Whether the channel runs programs of this machine, which the config must allow. */
  readonly runsPrograms?: true;
  /** Sends one alert. Doesn't throw if the receiver fails. */
  send?(channel: Values<O>, post: Post, around: Surroundings): Promise<Sent>;
  /** Sends one ping, as a sign that everything works. Doesn't throw if the receiver fails. */
  ping?(channel: Values<O>, around: Surroundings): Promise<Sent>;
}

/** Declares a channel type. This function only infers the types of the options, and returns its argument unchanged. */
export function defineChannel<const O extends OptionSet>(channel: ChannelKind<O>): ChannelKind<O> {
  return channel;
}

/** An attempt's overall timeout, as a multiple of `timeout_seconds`. */
const wholeFactor = 3;

/** Adds an overall timeout to one attempt, because a slow receiver could keep resetting an idle timeout. */
export function limited(around: Surroundings, { timeoutMs }: { readonly timeoutMs: number }): Surroundings {
  const late = AbortSignal.timeout(wholeFactor * timeoutMs);
  return { ...around, signal: AbortSignal.any([around.signal, late]) };
}
