/** The states of a client account. */
export const clientStatuses = ['setup', 'trial', 'active', 'disabled', 'expired', 'grace', 'arrears'] as const;
export type ClientStatus = (typeof clientStatuses)[number];

const trialMs = 14 * 86_400_000;

interface OnTrial {
  readonly status: ClientStatus;
  readonly createdAt: number;
  readonly trialExtended: 0 | 1;
}

/** A trial lasts fourteen days from the creation of the client, or twenty-eight if it was extended. */
function trialEnd({ createdAt, trialExtended }: OnTrial): number {
  return createdAt + trialMs * (1 + trialExtended);
}

/** Whether a trial would still be running. */
export function trialIsOver(client: OnTrial, now: number): boolean {
  return now >= trialEnd(client);
}

/** A client's state at this time. A trial ends at a point in time, even if no process is running then. */
export function statusAt(client: OnTrial, now: number): ClientStatus {
  return client.status === 'trial' && trialIsOver(client, now) ? 'expired' : client.status;
}

/** Whether the account's own users are locked out. Users of an account in arrears can still sign in. */
export function isClosed(account: OnTrial, now: number): boolean {
  const status = statusAt(account, now);
  return status === 'disabled' || status === 'expired';
}
