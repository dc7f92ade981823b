/** Identifies a payload, its job and its target. */
export interface PayloadFacts {
  readonly id: number;
  readonly job: string;
  readonly run: string;
  readonly destination: string;
  readonly instance: string;
  /** The payload's SHA-256 hash in hexadecimal, to compare with the data that the instance shows. */
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
 * Events about payloads and requests. Each is emitted once the step that it names is durable: at `payload.owed`, the
 * payload is in the outbox; at `upload.started`, the attempt has been counted, but nothing has been sent yet.
 */
export type DeliveryEvents = {
  'payload.owed': PayloadFacts;
  'payload.superseded': PayloadFacts;
  'payload.unchanged': Omit<PayloadFacts, 'id'>;
  'payload.refused': Omit<PayloadFacts, 'id'> & Trouble;
  /** A guard quarantined the payload, which is kept but not sent. */
  'payload.quarantined': PayloadFacts & Trouble & { readonly guards: readonly string[] };
  /** A person approved or discarded a quarantined payload, rolled back to an earlier one, or requeued a dead one. */
  'payload.approved': PayloadFacts & By;
  'payload.discarded': PayloadFacts & By;
  'payload.restored': PayloadFacts & By;
  'payload.revived': PayloadFacts & By;
  'payload.delivered': PayloadFacts & { readonly attempts: number; readonly milliseconds: number };
  /** The payload was resent because an earlier upload of different data got no response and might have arrived late. */
  'payload.repeated': PayloadFacts & { readonly milliseconds: number };
  'payload.dead': PayloadFacts & Trouble;
  /** `attempt`: number of the failed attempt; absent if none was made. */
  'payload.waiting': PayloadFacts & Trouble & { readonly until?: number; readonly attempt?: number };
  'upload.started': PayloadFacts & { readonly attempt: number };
  'upload.failed': PayloadFacts & Trouble & { readonly attempt: number; readonly action: string };
  'quota.spent': { readonly account: string; readonly destination: string; readonly until: number };
  'quota.reset': { readonly account: string; readonly destination: string };
  /** `refusals`: consecutive rate-limit responses that didn't report an exhausted daily limit. */
  'account.paused': {
    readonly account: string;
    readonly destination: string;
    readonly until: number;
    readonly refusals: number;
  };
  /** The new rate in requests per second, set because the service accepted fewer requests than were sent. */
  'account.slowed': { readonly account: string; readonly destination: string; readonly per_second: number };
  /** The service's request count for the account's current day; `others`: requests from other programs. */
  'usage.reported': {
    readonly account: string;
    readonly destination: string;
    readonly day: string;
    readonly used: number;
    readonly others: number;
    readonly allowance?: number;
  };
  /** The service refuses to report the account's usage and won't be asked again for a week. */
  'usage.refused': { readonly account: string; readonly destination: string; readonly message: string };
  'login.refused': { readonly account: string; readonly destination: string } & Trouble;
  /** `milliseconds`: how long the request waited in the send queue. */
  'request.sent': {
    readonly account: string;
    readonly method: string;
    readonly path: string;
    readonly milliseconds: number;
  };
  /** `status` is absent if there was no response. */
  'request.answered': {
    readonly account: string;
    readonly method: string;
    readonly path: string;
    readonly status?: number;
    readonly milliseconds: number;
    /** The account limit that was reached, according to the service. */
    readonly limit?: 'second' | 'day';
  };
  'refresh.queued': { readonly destination: string; readonly requested: number; readonly queued: number };
  'refresh.failed': {
    readonly destination: string;
    readonly requested: number;
    readonly failed: readonly { readonly id: string; readonly error: string; readonly status: number }[];
  };
};
