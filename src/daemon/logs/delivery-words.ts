import type { DeliveryEvents } from '../../delivery/events.ts';
import {
  account,
  attempt,
  by,
  destination,
  message,
  method,
  milliseconds,
  path,
  paying,
  payload,
  requested,
  trouble,
  unborn,
  until,
  type WordsOf,
} from './field-words.ts';

/** Documentation of the events about payloads, requests and refreshes. */
export const deliveryWords: WordsOf<DeliveryEvents> = {
  'payload.owed': {
    says: 'The payload is in the outbox. From now on, it will be delivered, superseded, quarantined or dead.',
    facts: payload,
  },
  'payload.superseded': { says: 'Newer data for the same instance replaced it.', facts: payload },
  'payload.unchanged': { says: 'The instance already has these bytes, so they are not sent again.', facts: unborn },
  'payload.refused': {
    says: 'The result was rejected (no rows, or too large) and is not sent.',
    facts: { ...unborn, ...trouble },
  },
  'payload.quarantined': {
    says: 'A guard quarantined the result; a person must decide about it.',
    facts: { ...payload, ...trouble, guards: 'the guards' },
  },
  'payload.approved': { says: 'A person approved a quarantined payload.', facts: { ...payload, ...by } },
  'payload.discarded': { says: 'A person discarded a quarantined payload.', facts: { ...payload, ...by } },
  'payload.restored': {
    says: 'A person rolled back to an earlier payload; the job is on hold.',
    facts: { ...payload, ...by },
  },
  'payload.revived': { says: 'A person requested another attempt for a dead payload.', facts: { ...payload, ...by } },
  'payload.delivered': {
    says: 'The service accepted the payload.',
    facts: { ...payload, attempts: 'number of attempts', milliseconds },
  },
  'payload.repeated': {
    says: 'The payload is sent again because an earlier upload got no response and might have arrived late.',
    facts: { ...payload, milliseconds },
  },
  'payload.dead': { says: 'The service rejected the payload; a person must act.', facts: { ...payload, ...trouble } },
  'payload.waiting': {
    says: 'The upload failed; the payload waits for a retry.',
    facts: { ...payload, ...trouble, until, attempt: 'number of the failed attempt; absent if none was made' },
  },
  'upload.started': { says: 'An upload attempt starts and is counted.', facts: { ...payload, attempt } },
  'upload.failed': {
    says: 'An upload attempt failed.',
    facts: { ...payload, ...trouble, attempt, action: 'what happens next' },
  },
  'request.sent': {
    says: 'A request is sent to the service.',
    facts: { account, method, path, milliseconds: 'how long it waited for a slot' },
  },
  'request.answered': {
    says: 'The service responded, or the request failed.',
    facts: {
      account,
      method,
      path,
      status: 'HTTP status of the response; absent without a response',
      milliseconds,
      limit: 'the limit that was exceeded: `second` or `day`',
    },
  },
  'quota.spent': { says: 'The daily allowance is used up; owed payloads wait.', facts: { ...paying, until } },
  'quota.reset': { says: 'A new day started, and requests are available again.', facts: paying },
  'account.paused': {
    says: 'Rate-limited by the service; nothing is sent for this account before `until`.',
    facts: { ...paying, until, refusals: 'number of consecutive pauses' },
  },
  'account.slowed': {
    says: 'The service accepted fewer requests per second than documented; the rate is reduced.',
    facts: { ...paying, per_second: 'the new rate' },
  },
  'usage.reported': {
    says: 'The service reported its request count for the day.',
    facts: {
      ...paying,
      day: 'the day in New York',
      used: 'all requests',
      others: 'requests made by other programs',
      allowance: 'the allowance, if reported',
    },
  },
  'usage.refused': {
    says: 'The service refused to report usage; Sluice asks again in a week.',
    facts: { ...paying, message },
  },
  'login.refused': {
    says: 'A destination rejected the credentials; owed payloads wait.',
    facts: { ...paying, ...trouble },
  },
  'refresh.queued': {
    says: 'The service queued a refresh of data sources.',
    facts: { destination, requested, queued: 'number of accepted data sources' },
  },
  'refresh.failed': {
    says: 'The service refused to refresh some data sources.',
    facts: { destination, requested, failed: 'the data sources, with error and status' },
  },
};
