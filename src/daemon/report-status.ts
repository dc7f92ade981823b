import type { Config, Job } from '../config/config.ts';
import { addressOf } from '../delivery/commit-payload.ts';
import type { Clock } from '../lib/clock.ts';
import { loginCommand } from '../oauth/login-problems.ts';
import { needsPerson, reportLogins } from '../oauth/report.ts';
import { nextFiring } from '../schedule/schedule.ts';
import { processText } from '../state/processes.ts';
import type { Store } from '../state/store.ts';
import type { HoldRow, OutboxRow, RunRow, StretchRow } from '../state/tables.ts';
import { nextTurn } from './next-turn.ts';
import { type AccountStatus, reportAccounts } from './report-accounts.ts';

/** Where a job stands. Instants are epoch milliseconds. */
export interface JobStatus {
  readonly job: string;
  readonly enabled: boolean;
  /** One sentence: what it does or waits for now. */
  readonly state: string;
  readonly last_run?: {
    readonly run: string;
    readonly state: string;
    readonly started_at: number;
    readonly rows: number | null;
    readonly code: string | null;
    readonly message: string | null;
  };
  /** When the instance was last known to be given or to have the job's newest data. */
  readonly last_delivered_at?: number;
  readonly next_firing_at?: number;
  /** Set while it runs less often than its schedule says, because the requests of the day do not reach; 0: not at all. */
  readonly stretched?: {
    readonly every: number;
    readonly says: string;
    readonly since: number;
    readonly until: number;
  };
  readonly owed: readonly {
    readonly bytes: number;
    readonly rows: number;
    readonly since: number;
    readonly attempts: number;
    readonly code: string | null;
    readonly message: string | null;
  }[];
}

/** Owed by jobs that the config does not have; `deliverable` while it has the destination. */
export interface StrandedStatus {
  readonly job: string;
  readonly destination: string;
  readonly deliverable: boolean;
  readonly payloads: number;
}

/** A login that only a person can mend, with the command that does. */
export interface NeedyLogin {
  readonly login: string;
  readonly sources: readonly string[];
  readonly message?: string;
  readonly next: string;
}

export interface Status {
  readonly daemon?: { readonly owner: string; readonly since: number };
  readonly jobs: readonly JobStatus[];
  readonly stranded: readonly StrandedStatus[];
  readonly accounts: readonly AccountStatus[];
  readonly logins: readonly NeedyLogin[];
}

/** Reads where everything stands from the store, where there is one already; asks nobody and changes nothing. */
export async function reportStatus(config: Config, store: Store | undefined, clock: Clock): Promise<Status> {
  if (store === undefined) return nothingYet(config, clock);
  const owed = await store.outbox.inState('owed');
  const stretches = new Map((await store.stretches.now()).map((stretch) => [stretch.job, stretch]));
  const jobs: JobStatus[] = [];
  for (const job of config.jobs.values()) {
    const mine = owed.filter((row) => row.job === job.name);
    jobs.push(await jobStatus(job, { store, clock, owed: mine, stretch: stretches.get(job.name) }));
  }
  const holder = await store.leases.holder('daemon');
  const daemon = holder === undefined ? {} : { daemon: { owner: processText(holder.owner), since: holder.takenAt } };
  const accounts = await reportAccounts(config, store, clock);
  const logins = await needyLogins(config, store, clock);
  return { ...daemon, jobs, stranded: strandedIn(owed, config), accounts, logins };
}

async function nothingYet(config: Config, clock: Clock): Promise<Status> {
  const jobs = [...config.jobs.values()].map((job) => {
    const next = firstFiring(job, clock);
    const times = next === null ? {} : { next_firing_at: next };
    return { job: job.name, enabled: job.enabled, state: 'never ran', ...times, owed: [] };
  });
  const accounts = await reportAccounts(config, undefined, clock);
  return { jobs, stranded: [], accounts, logins: await needyLogins(config, undefined, clock) };
}

async function needyLogins({ sources }: Config, store: Store | undefined, clock: Clock): Promise<NeedyLogin[]> {
  const reports = await reportLogins(sources.values(), store, clock.now());
  return reports.filter(needsPerson).map(({ login, sources, state, expires_at, message }) => {
    const next = loginCommand(sources[0] ?? login);
    const ends = state === 'ends soon' ? `its token ends at ${new Date(expires_at!).toISOString()}` : undefined;
    const why = message ?? ends;
    return { login, sources, next, ...(why === undefined ? {} : { message: why }) };
  });
}

function firstFiring({ schedule, enabled }: Job, clock: Clock): number | null {
  return schedule && enabled ? nextFiring(schedule, clock.now()) : null;
}

function strandedIn(owed: readonly OutboxRow[], { jobs, destinations }: Config): StrandedStatus[] {
  const orphans = owed.filter(({ job, destination }) => !jobs.has(job) || !destinations.has(destination));
  return [...Map.groupBy(orphans, ({ job, destination }) => JSON.stringify([job, destination])).values()].map(
    (rows) => {
      const { job, destination } = rows[0] as OutboxRow;
      return { job, destination, deliverable: destinations.has(destination), payloads: rows.length };
    },
  );
}

async function jobStatus(
  job: Job,
  given: { store: Store; clock: Clock; owed: readonly OutboxRow[]; stretch: StretchRow | undefined },
): Promise<JobStatus> {
  const { store, clock, owed, stretch } = given;
  const last = await store.runs.last(job.name);
  const running = await store.leases.holder(`job:${job.name}`);
  const hold = await store.holds.find(job.name);
  const delivered = await lastPublished(job, store);
  const planned = (await store.schedules.find(job.name))?.next_at;
  const plain = planned ?? firstFiring(job, clock);
  const isOverdue = plain !== null && plain <= clock.now();
  const next =
    stretch === undefined || job.schedule === undefined || isOverdue
      ? plain
      : nextTurn(job.schedule, stretch, { now: clock.now(), lastAt: last?.started_at });
  return {
    job: job.name,
    enabled: job.enabled,
    state: stateOf({ running: running !== undefined, owed, last, hold }),
    ...(last === undefined ? {} : { last_run: runOf(last) }),
    ...(delivered === undefined ? {} : { last_delivered_at: delivered }),
    ...(next === null || next === undefined ? {} : { next_firing_at: next }),
    ...(stretch === undefined ? {} : { stretched: stretchOf(stretch) }),
    owed: owed.map(({ bytes, row_count, owed_at, attempts, code, message }) => ({
      bytes,
      rows: row_count,
      since: owed_at,
      attempts,
      code,
      message,
    })),
  };
}

function runOf({ id, state, started_at, row_count, code, message }: RunRow): NonNullable<JobStatus['last_run']> {
  return { run: id, state, started_at, rows: row_count, code, message };
}

function stretchOf({ every, says, since, until }: StretchRow): NonNullable<JobStatus['stretched']> {
  return { every, says, since, until };
}

function stateOf({
  running,
  owed,
  last,
  hold,
}: {
  running: boolean;
  owed: readonly OutboxRow[];
  last: RunRow | undefined;
  hold: HoldRow | undefined;
}): string {
  if (running) return 'running';
  const [waiting] = owed;
  if (waiting?.code === 'QUOTA_SPENT') return 'owed, waiting for the daily quota';
  if (waiting?.code === 'LOGIN_NEEDED') return 'owed, credentials refused';
  if (waiting !== undefined) return waiting.next_attempt_at === null ? 'owed' : 'owed, waiting to try again';
  if (hold !== undefined) return `held by ${hold.who}${hold.why === '' ? '' : `: ${hold.why}`}`;
  if (last === undefined) return 'never ran';
  return last.state === 'running' ? 'interrupted' : last.state;
}

/** How old the data is that the job's instance was last known to show, epoch milliseconds. */
export async function lastPublished(job: Job, store: Store): Promise<number | undefined> {
  if (job.extract === undefined) return undefined;
  const address = await addressOf(store, job).catch(() => undefined);
  const receipt = address && (await store.receipts.find({ url: job.destination.url, ...address }));
  return receipt?.certain === 1 ? receipt.as_of : undefined;
}
