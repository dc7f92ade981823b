/** Identifies a payload, its job and its target. */
export interface PayloadFacts {
  readonly id: number;
  readonly job: string;
  readonly run: string;
  readonly destination: string;
  readonly instance: string;
  /** Of the bytes, in hexadecimal digits; can be compared with what the instance shows. */
  readonly sha256: string;
  readonly bytes: number;
  readonly rows: number;
}

interface By {
  readonly who: string;
  readonly why: string;
}

interface Trouble {
  readonly code: string;
  readonly message: string;
}

/**
 * Events of payloads and requests. Each is emitted after the durable step that it names: after `payload.owed`, the payload is
 * in the outbox; at `upload.started`, the attempt is counted and nothing has been sent.
 */
export type DeliveryEvents = {
  'payload.owed': PayloadFacts;
  'payload.superseded': PayloadFacts;
  'payload.unchanged': Omit<PayloadFacts, 'id'>;
  'payload.refused': Omit<PayloadFacts, 'id'> & Trouble;
  /** A guard holds it back: it is kept and not sent. */
  'payload.quarantined': PayloadFacts & Trouble & { readonly guards: readonly string[] };
  /** A person let a quarantined payload go, put it away, put a former one back, or lets a dead one try again. */
  'payload.approved': PayloadFacts & By;
  'payload.discarded': PayloadFacts & By;
  'payload.restored': PayloadFacts & By;
  'payload.revived': PayloadFacts & By;
  'payload.delivered': PayloadFacts & { readonly attempts: number; readonly milliseconds: number };
  /** Sent again, because an earlier upload of other data had no answer and might have arrived late. */
  'payload.repeated': PayloadFacts & { readonly milliseconds: number };
  'payload.dead': PayloadFacts & Trouble;
  /** `attempt`: the one that failed; absent where none was made. */
  'payload.waiting': PayloadFacts & Trouble & { readonly until?: number; readonly attempt?: number };
  'upload.started': PayloadFacts & { readonly attempt: number };
  'upload.failed': PayloadFacts & Trouble & { readonly attempt: number; readonly action: string };
  'quota.spent': { readonly account: string; readonly destination: string; readonly until: number };
  'quota.reset': { readonly account: string; readonly destination: string };
  /** `refusals`: how many times in a row the service has said that it was too much, without saying that the day is over. */
  'account.paused': {
    readonly account: string;
    readonly destination: string;
    readonly until: number;
    readonly refusals: number;
  };
  /** Requests a second that are sent from now on, because the service took fewer than we sent. */
  'account.slowed': { readonly account: string; readonly destination: string; readonly per_second: number };
  /** What the service has counted on the account's running day; `others` are those that we did not make. */
  'usage.reported': {
    readonly account: string;
    readonly destination: string;
    readonly day: string;
    readonly used: number;
    readonly others: number;
    readonly allowance?: number;
  };
  /** The service refuses to report the usage of the account; it is not asked again for a week. */
  'usage.refused': { readonly account: string; readonly destination: string; readonly message: string };
  'login.refused': { readonly account: string; readonly destination: string } & Trouble;
  /** `milliseconds`: how long it waited in the send queue. */
  'request.sent': {
    readonly account: string;
    readonly method: string;
    readonly path: string;
    readonly milliseconds: number;
  };
  /** `status` is absent when no answer came. */
  'request.answered': {
    readonly account: string;
    readonly method: string;
    readonly path: string;
    readonly status?: number;
    readonly milliseconds: number;
    /** The limit of the account that the service says is reached. */
    readonly limit?: 'second' | 'day';
  };
  'refresh.queued': { readonly destination: string; readonly requested: number; readonly queued: number };
  'refresh.failed': {
    readonly destination: string;
    readonly requested: number;
    readonly failed: readonly { readonly id: string; readonly error: string; readonly status: number }[];
  };
};
