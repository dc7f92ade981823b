import type { Job } from '../config/config.ts';
import { checkGuards } from '../guards/check-guards.ts';
import type { GuardCounters } from '../guards/guard-counters.ts';
import type { GuardFailure } from '../guards/guard-finding.ts';
import { Problem } from '../lib/problem.ts';
import type { Payload } from '../pipeline/payload.ts';
import type { InstanceKey } from '../state/outbox/instance-key.ts';
import type { GuardVerdict } from '../state/outbox/quarantine.ts';
import type { Store } from '../state/store.ts';

/** What guards look at. */
export interface GuardCandidate {
  readonly job: Job;
  readonly payload: Pick<Payload, 'rows' | 'bytes' | 'sha256' | 'asOf'> & {
    readonly columns?: readonly { readonly name: string }[];
  };
  /** What was counted in the rows, where a guard asks for that. */
  readonly watch?: GuardCounters;
  /** The instant that the run stands for, epoch milliseconds. Absent: the beginning of its extract. */
  readonly logicalAt?: number;
}

/** Why guards hold a result back. */
export interface GuardRefusal extends GuardVerdict {
  readonly problem: Problem;
  /** Names of the guards. */
  readonly guards: readonly string[];
}

/**
 * What the guards of a job object to in a result. Undefined where they object to nothing, or where a person has approved
 * these very bytes before. Without a store, or an instance in it, there is nothing to compare with.
 */
export async function checkCandidate(
  { job, payload, watch, logicalAt = payload.asOf }: GuardCandidate,
  known: { readonly store: Store; readonly key: InstanceKey } | undefined,
): Promise<GuardRefusal | undefined> {
  if (job.guards === undefined) return undefined;
  const columns = (payload.columns ?? []).map(({ name }) => name);
  const counted = watch === undefined ? {} : { counted: watch.counted() };
  const result = { ...payload, at: logicalAt, columns, ...counted, mayBeEmpty: job.allowEmpty };
  const last = await known?.store.goodPayloads.last(known.key);
  const findings = checkGuards(job.guards, result, last && { rows: last.row_count, run: last.run });
  if (findings.length === 0) return undefined;
  if (await known?.store.quarantine.hasApproved(known.key, payload.sha256)) return undefined;
  const problem = problemOf(job, findings);
  return {
    problem,
    guards: findings.map(({ guard }) => guard),
    findings: JSON.stringify(findings),
    message: `${joined(findings, 'message')} (${problem.seen})`,
    last,
  };
}

function problemOf(job: Job, findings: readonly GuardFailure[]): Problem {
  return new Problem({
    code: 'GUARD_FAILED',
    family: 'job',
    message: `${joined(findings, 'message')}. The result is held back and the instance keeps its current data`,
    where: { job: job.name, line: job.line, stage: 'deliver' },
    seen: joined(findings, 'seen'),
    allowed: joined(findings, 'allowed'),
    next: `sluice quarantine show ${job.name}`,
  });
}

function joined(findings: readonly GuardFailure[], part: 'message' | 'seen' | 'allowed'): string {
  return findings.map((finding) => finding[part]).join('; ');
}
