import type { InstanceKey } from '../outbox/instance-key.ts';

/** Locks an account: its slots, its day's count, its pause and its pace. */
export const accountLock = (account: string): string => `account:${account}`;

/** Locks a job: its schedule, its retries, its checkpoint, and its runs until they have a payload. */
export const jobLock = (job: string): string => `job:${job}`;

/** Locks an instance: its payloads, their runs, and its receipt. */
export const instanceLock = ({ url, clientId = '', instance }: InstanceKey): string =>
  `instance:${JSON.stringify([url, clientId, instance])}`;
