import { clientOf, type Job } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import type { TargetKey } from '../state/outbox/targets.ts';
import type { Store } from '../state/store.ts';

/**
 * A container without a volume starts with an empty state folder each time, and loses its data source IDs and owed
 * payloads.
 */
export const missingVolume = 'if an older state should be here, check that its volume is mounted';

/** The target of a job's payload. */
export interface TargetAddress {
  readonly instance: string;
  readonly clientId?: string;
}

/**
 * The instance that a job writes to. Throws `TARGET_NOT_APPLIED` (family `config`) for a declared data source that
 * hasn't been created yet.
 */
export async function addressOf(store: Store, job: Job): Promise<TargetAddress> {
  if (job.target.kind === 'refresh') throw new Error(`job ${job.name} only refreshes data sources and has no instance`);
  const address = await findAddress(store, job);
  if (address !== undefined) return address;
  const isNew = (await store.targets.all()).length === 0;
  throw new Problem({
    code: 'TARGET_NOT_APPLIED',
    family: 'config',
    message: `The data source "${declaredTarget(job)!.name}" has not been created yet`,
    where: { job: job.name, destination: job.destination.name },
    ...(isNew ? { seen: `a new state in ${store.folder}; ${missingVolume}` } : {}),
    next: 'sluice apply --yes',
  });
}

/** Like {@link addressOf}, but returns undefined instead of throwing. */
export async function findAddress(store: Pick<Store, 'targets'>, job: Job): Promise<TargetAddress | undefined> {
  const declared = declaredTarget(job);
  return addressGiven(job, declared && (await store.targets.find(declared)));
}

/** The key of the job's instance in the store; undefined if the job doesn't declare a data source. */
export function declaredTarget(job: Job): TargetKey | undefined {
  const { target, destination } = job;
  if (target.kind !== 'datasource') return undefined;
  return { url: destination.url, name: target.declaration.name, ...clientOf(job) };
}

/**
 * Like {@link addressOf}, for callers that have already read the stored {@link declaredTarget} record. Undefined for a
 * refresh, and for a declared data source that hasn't been created yet.
 */
export function addressGiven(job: Job, known: { readonly instance: string } | undefined): TargetAddress | undefined {
  const at = job.target.kind === 'instance' ? job.target : job.target.kind === 'datasource' ? known : undefined;
  return at === undefined ? undefined : { instance: at.instance, ...clientOf(job) };
}
