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

/** Documents the events about payloads, requests and refreshes. */
export const deliveryWords: WordsOf<DeliveryEvents> = {
  'payload.owed': {
    description: 'The payload was added to the outbox. It will end up delivered, superseded, quarantined or dead.',
    facts: payload,
  },
  'payload.superseded': { description: 'Newer data for the same instance replaced the payload.', facts: payload },
  'payload.unchanged': { description: 'The instance already has the same bytes, so nothing was sent.', facts: unborn },
  'payload.refused': {
    description: 'Sluice rejected the result because it had no rows or was too large, and did not send it.',
    facts: { ...unborn, ...trouble },
  },
  'payload.quarantined': {
    description: 'A guard quarantined the result; a person must approve or discard it.',
    facts: { ...payload, ...trouble, guards: 'the guards' },
  },
  'payload.approved': { description: 'A person approved a quarantined payload.', facts: { ...payload, ...by } },
  'payload.discarded': { description: 'A person discarded a quarantined payload.', facts: { ...payload, ...by } },
  'payload.restored': {
    description: 'A person rolled back to an earlier payload; the job is on hold.',
    facts: { ...payload, ...by },
  },
  'payload.revived': {
    description: 'A person asked Sluice to send a dead payload again.',
    facts: { ...payload, ...by },
  },
  'payload.delivered': {
    description: 'The service accepted the payload.',
    facts: { ...payload, attempts: 'number of attempts', milliseconds },
  },
  'payload.repeated': {
    description: 'The payload was sent again because an older upload got no response and might have arrived after it.',
    facts: { ...payload, milliseconds },
  },
  'payload.dead': {
    description: 'The service rejected the payload; a person must fix the cause.',
    facts: { ...payload, ...trouble },
  },
  'payload.waiting': {
    description: 'The upload failed and will be retried.',
    facts: { ...payload, ...trouble, until, attempt: 'number of the failed attempt; absent if no attempt was made' },
  },
  'upload.started': { description: 'An upload attempt was counted and is starting.', facts: { ...payload, attempt } },
  'upload.failed': {
    description: 'An upload attempt failed.',
    facts: { ...payload, ...trouble, attempt, action: 'what happens next' },
  },
  'request.sent': {
    description: 'A request was sent to the service.',
    facts: { account, method, path, milliseconds: 'how long the request waited for a slot' },
  },
  'request.answered': {
    description: 'The service responded, or the request failed.',
    facts: {
      account,
      method,
      path,
      status: 'HTTP status code of the response; absent if there was no response',
      milliseconds,
      limit: 'the limit that was exceeded: `second` or `day`',
    },
  },
  'quota.spent': { description: 'The daily allowance is used up; unsent payloads wait.', facts: { ...paying, until } },
  'quota.reset': { description: 'A new day started, and requests are available again.', facts: paying },
  'account.paused': {
    description: 'The service rate-limited the account; Sluice sends no requests for it before `until`.',
    facts: { ...paying, until, refusals: 'number of consecutive pauses' },
  },
  'account.slowed': {
    description: 'The service accepted fewer requests per second than documented, so Sluice reduced its rate.',
    facts: { ...paying, per_second: 'the new rate' },
  },
  'usage.reported': {
    description: 'The service reported its request count for the day.',
    facts: {
      ...paying,
      day: 'the day in New York',
      used: 'all requests',
      others: 'requests made by other programs',
      allowance: 'the allowance, if reported',
    },
  },
  'usage.refused': {
    description: 'The service refused to report usage; Sluice asks again in a week.',
    facts: { ...paying, message },
  },
  'login.refused': {
    description: 'A destination rejected the credentials; unsent payloads wait.',
    facts: { ...paying, ...trouble },
  },
  'refresh.queued': {
    description: 'The service queued a refresh of data sources.',
    facts: { destination, requested, queued: 'number of accepted data sources' },
  },
  'refresh.failed': {
    description: 'The service refused to refresh some data sources.',
    facts: { destination, requested, failed: 'each refused data source, with its error and status' },
  },
};
