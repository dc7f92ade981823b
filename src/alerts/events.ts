/** Events about alerts. Each event is emitted after the durable step that it's named after. */
export type AlertEvents = {
  /** An alert was queued for the channels. */
  'alert.raised': {
    readonly occasion: string;
    readonly kind: string;
    readonly open: number;
    readonly fresh: number;
    readonly recovered: number;
    readonly channels: readonly string[];
    readonly subjects: readonly string[];
  };
  /** A message is about to be sent to a channel. */
  'alert.sending': { readonly channel: string; readonly id: string; readonly attempt: number };
  'alert.sent': { readonly channel: string; readonly id: string; readonly title: string };
  'alert.unsent': {
    readonly channel: string;
    readonly id: string;
    readonly attempt: number;
    readonly problem: string;
    readonly until: number;
  };
  /** The message expired unsent. */
  'alert.given_up': { readonly channel: string; readonly id: string; readonly title: string; readonly problem: string };
  'heartbeat.failed': { readonly channel: string; readonly problem: string };
};
