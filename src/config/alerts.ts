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

/** What people may hear of, as rules name it. */
export type Occasion = (typeof occasions)[number];

type ChannelOf<T extends ChannelType> = {
  readonly name: string;
  readonly type: T;
} & Values<(typeof channelOptions)[T]>;

/** Where alerts go. */
export type AlertChannel = { [T in ChannelType]: ChannelOf<T> }[ChannelType];
export type ChannelNamed<T extends ChannelType> = Extract<AlertChannel, { readonly type: T }>;

/** What a job can override. `staleAfterMs` follows from the schedule if it isn't there. */
export type AlertLimits = Values<typeof jobAlertOptions> &
  Required<Omit<Values<typeof jobAlertOptions>, 'staleAfterMs'>>;

/** Whom to tell what, and how often. */
export interface Alerts extends AlertLimits, Omit<Values<typeof alertSettings>, keyof AlertLimits> {
  readonly channels: ReadonlyMap<string, AlertChannel>;
}

/** What a job says differently; `to` takes the place of the rules. */
export type OwnAlerts = Values<typeof ownAlertOptions>;
