import type { OptionValues } from '../sdk/option.ts';
import type { ChannelType, channelOptions, occasions } from './options/alerts.ts';

export type { ChannelType };

/** What people may hear of, as rules name it. */
export type Occasion = (typeof occasions)[number];

type ChannelOf<T extends ChannelType> = {
  readonly name: string;
  readonly type: T;
} & OptionValues<(typeof channelOptions)[T]>;

/** Where alerts go. The members are those that the config names, defaults filled in. */
export type AlertChannel = { [T in ChannelType]: ChannelOf<T> }[ChannelType];
export type ChannelNamed<T extends ChannelType> = Extract<AlertChannel, { readonly type: T }>;

interface AlertRule {
  /** Absent: on all. */
  readonly on?: ReadonlySet<Occasion>;
  /** Patterns of names, `*` for any letters. Absent: all, and what concerns no single job. */
  readonly jobs?: readonly string[];
  readonly to: readonly string[];
}

/** What can be said for all jobs and for one. */
export interface AlertLimits {
  readonly firstFailure: boolean;
  /** 0: never. */
  readonly afterFailures: number;
  /** Undefined: by the schedule. */
  readonly staleAfterMs?: number | false;
  readonly remindMs: number;
}

/** Whom to tell what, and how often. */
export interface Alerts extends AlertLimits {
  readonly channels: ReadonlyMap<string, AlertChannel>;
  readonly rules: readonly AlertRule[];
  readonly recovery: boolean;
  readonly settleMs: number;
  readonly unsentAfterMs: number;
  /** A fraction of the day's requests. */
  readonly quotaLeft: number;
}

/** What a job says differently. */
export interface OwnAlerts extends Partial<AlertLimits> {
  /** Channels, instead of the rules. */
  readonly to?: readonly string[];
}
