import type { Job } from '../config/config.ts';
import { checkGuards } from '../guards/check-guards.ts';
import type { GuardCounters } from '../guards/guard-counters.ts';
import type { GuardFailure } from '../guards/guard-finding.ts';
import { countOf } from '../lib/count-text.ts';
import { Problem } from '../lib/problem.ts';
import type { Payload } from '../pipeline/payload.ts';
import type { InstanceKey } from '../state/outbox/instance-key.ts';
import type { GuardVerdict } from '../state/outbox/quarantine.ts';
import type { Store } from '../state/store.ts';

/** A result that is about to be settled. */
export interface ResultCandidate {
  readonly job: Job;
  readonly payload: Pick<Payload, 'rows' | 'bytes' | 'sha256' | 'format' | 'asOf'> & {
    readonly columns?: readonly { readonly name: string }[];
  };
  /** The row counts; absent if no guard needs them. */
  readonly watch?: GuardCounters;
  /** The run's logical time in epoch milliseconds. Default: the start of its extract. */
  readonly logicalAt?: number;
}

/** The decision about a result, before anything is changed. */
export type Verdict =
  | { readonly state: 'owed' }
  /** The instance certainly shows the same bytes already. */
  | { readonly state: 'unchanged' }
  | { readonly state: 'failed'; readonly problem: Problem }
  | ({ readonly state: 'quarantined' } & GuardRefusal);

/** Why guards quarantine a result. */
export interface GuardRefusal extends GuardVerdict {
  readonly problem: Problem;
  /** Names of the guards. */
  readonly guards: readonly string[];
}

/** The known state of the target instance. */
interface Known {
  readonly store: Store;
  readonly key: InstanceKey;
}

/**
 * Decides what happens to a result: refused (empty or too large), quarantined by a guard, unchanged, or owed. Doesn't
 * change the store. If there's no store or the store doesn't know the instance, the result isn't compared with
 * anything.
 */
export async function verdictOf(candidate: ResultCandidate, known: Known | undefined): Promise<Verdict> {
  const { job, payload } = candidate;
  const problem = refusalOf(job, payload);
  if (problem !== undefined) return { state: 'failed', problem };
  const refusal = await guardRefusal(candidate, known);
  if (refusal !== undefined) return { state: 'quarantined', ...refusal };
  const isShown = !job.always && (await known?.store.receipts.holds(known.key, payload));
  return { state: isShown === true ? 'unchanged' : 'owed' };
}

/**
 * Why a result without rows or with too many bytes is refused before it reaches the outbox, which saves a request.
 * Undefined if it's acceptable.
 */
function refusalOf(job: Job, payload: ResultCandidate['payload']): Problem | undefined {
  const where = { job: job.name, line: job.line, stage: 'deliver' };
  if (payload.rows === 0 && !job.allowEmpty) {
    return new Problem({
      code: 'EMPTY_REFUSED',
      family: 'job',
      message: 'The source returned no rows; the instance keeps its current data',
      where,
      seen: '0 rows',
      next: 'check the query; if an empty result is valid, set allow_empty: true in the job',
    });
  }
  const limit = job.destination.uploadLimitBytes;
  if (payload.bytes <= limit) return undefined;
  return new Problem({
    code: 'PAYLOAD_TOO_LARGE',
    family: 'job',
    message: 'The payload is too large for the destination; nothing was truncated or sent',
    where,
    seen: `${countOf(payload.bytes, 'byte')}, ${countOf(payload.rows, 'row')}`,
    allowed: `${countOf(limit, 'byte')}`,
    next: "select fewer rows or columns, or raise the destination's upload_limit_bytes if the service accepts more",
  });
}

/**
 * Why guards quarantine a result. Undefined if all guards pass, or if a person has already approved these exact bytes.
 */
async function guardRefusal(
  { job, payload, watch, logicalAt = payload.asOf }: ResultCandidate,
  known: Known | undefined,
): Promise<GuardRefusal | undefined> {
  if (job.guards === undefined) return undefined;
  const columns = (payload.columns ?? []).map(({ name }) => name);
  const counted = watch === undefined ? {} : { counted: watch.counted() };
  const result = { ...payload, at: logicalAt, columns, ...counted };
  const last = await known?.store.goodPayloads.last(known.key);
  const findings = checkGuards(job.guards, result, last && { rows: last.row_count, run: last.run });
  if (findings.length === 0) return undefined;
  if (await known?.store.quarantine.hasApproved(known.key, payload.sha256)) return undefined;
  const problem = guardProblem(job, findings);
  return {
    problem,
    guards: findings.map(({ guard }) => guard),
    findings: JSON.stringify(findings),
    message: `${joined(findings, 'message')} (${problem.seen})`,
    last,
  };
}

function guardProblem(job: Job, findings: readonly GuardFailure[]): Problem {
  return new Problem({
    code: 'GUARD_FAILED',
    family: 'job',
    message: `${joined(findings, 'message')}. The result is quarantined and the instance keeps its current data`,
    where: { job: job.name, line: job.line, stage: 'deliver' },
    seen: joined(findings, 'seen'),
    allowed: joined(findings, 'allowed'),
    next: `sluice quarantine show ${job.name}`,
  });
}

/**
 * The problem to report if a guard fails in a dry run. A dry run doesn't quarantine the result, so there's nothing to
 * show or approve.
 */
export function foretoldProblem(job: Job, { findings, problem }: GuardRefusal): Problem {
  const { code, family, where, seen, allowed } = problem;
  return new Problem({
    code,
    family,
    message: `${joined(JSON.parse(findings) as GuardFailure[], 'message')}. The result would be quarantined`,
    where,
    ...(seen === undefined ? {} : { seen }),
    ...(allowed === undefined ? {} : { allowed }),
    next: `sluice sync ${job.name} --dry-run --diff`,
  });
}

function joined(findings: readonly GuardFailure[], part: 'message' | 'seen' | 'allowed'): string {
  return findings.map((finding) => finding[part]).join('; ');
}
