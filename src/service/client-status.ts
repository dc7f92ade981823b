/** The possible statuses of a client account. */
export const clientStatuses = ['setup', 'trial', 'active', 'disabled', 'expired', 'grace', 'arrears'] as const;
export type ClientStatus = (typeof clientStatuses)[number];

const trialMs = 14 * 86_400_000;

interface OnTrial {
  readonly status: ClientStatus;
  readonly createdAt: number;
  readonly trialExtended: 0 | 1;
}

/** A trial lasts fourteen days from the client's creation, or twenty-eight days if it was extended. */
function trialEnd({ createdAt, trialExtended }: OnTrial): number {
  return createdAt + trialMs * (1 + trialExtended);
}

/** Whether the client's trial period has ended, whatever the client's status. */
export function trialIsOver(client: OnTrial, now: number): boolean {
  return now >= trialEnd(client);
}

/** A client's status at this time. It's computed, because a trial ends even if no process is running at that time. */
export function statusAt(client: OnTrial, now: number): ClientStatus {
  return client.status === 'trial' && trialIsOver(client, now) ? 'expired' : client.status;
}

/** {@link statusAt} in SQL, for a row of `accounts a`. The placeholder is the time in epoch milliseconds. */
export const statusSql = `case when a.status = 'trial' and ? >= a.created_at + ${trialMs} * (1 + a.trial_extended)
  then 'expired' else a.status end`;

/** Whether the account's own users can't sign in. Users of an account in arrears still can. */
export function isClosed(account: OnTrial, now: number): boolean {
  const status = statusAt(account, now);
  return status === 'disabled' || status === 'expired';
}
