import type {
  alertSettings,
  ChannelType,
  channelOptions,
  jobAlertOptions,
  occasions,
  ownAlertOptions,
} from './options/alerts.ts';
import type { Values } from './options/field.ts';

export type { ChannelType };

/** The occasions that alert rules can refer to. */
export type Occasion = (typeof occasions)[number];

type ChannelOf<T extends ChannelType> = {
  readonly name: string;
  readonly type: T;
} & Values<(typeof channelOptions)[T]>;

/** A channel that alerts are sent to. */
export type AlertChannel = { [T in ChannelType]: ChannelOf<T> }[ChannelType];
export type ChannelNamed<T extends ChannelType> = Extract<AlertChannel, { readonly type: T }>;

/**
 * Alert settings that a job can override. If `staleAfterMs` is absent, its value is derived from the job's schedule.
 */
export type AlertLimits = Values<typeof jobAlertOptions> &
  Required<Omit<Values<typeof jobAlertOptions>, 'staleAfterMs'>>;

/** Which channels receive which alerts, and how often. */
export interface Alerts extends AlertLimits, Omit<Values<typeof alertSettings>, keyof AlertLimits> {
  readonly channels: ReadonlyMap<string, AlertChannel>;
}

/** A job's overrides. If the job sets `to`, its channels replace the rules. */
export type OwnAlerts = Values<typeof ownAlertOptions>;
