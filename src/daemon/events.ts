import type { AlertEvents } from '../alerts/events.ts';
import type { DeliveryEvents } from '../delivery/events.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { LoginEvents } from '../oauth/events.ts';
import type { PipelineEvents } from '../pipeline/events.ts';
import type { RunOutcome } from './run/run-outcome.ts';

/** Events about runs, firings and the daemon itself. All instants are in epoch milliseconds. */
export type RunEvents = {
  /** An attempt of a run has begun. `attempt` is present from the second attempt on. */
  'run.started': {
    readonly job: string;
    readonly run: string;
    readonly origin: 'person' | 'schedule';
    readonly attempt?: number;
  };
  /** An attempt ended with a transient error. The run's next attempt is due at `at`. */
  'run.retrying': {
    readonly job: string;
    readonly run: string;
    readonly attempt: number;
    readonly at: number;
    readonly milliseconds: number;
    readonly code: string;
    readonly message: string;
    readonly next?: string;
  };
  /** A run ended after its last attempt. This event is emitted once per firing. */
  'run.finished': {
    readonly job: string;
    readonly run: string;
    readonly outcome: RunOutcome['state'];
    readonly rows: number;
    readonly bytes: number;
    readonly requests: number;
    /** Total time of all attempts, including the delays between them. */
    readonly milliseconds: number;
    /** Number of attempts. Absent if there was only one. */
    readonly attempts?: number;
    readonly code?: string;
    readonly message?: string;
    /** What a user can do about the problem. */
    readonly next?: string;
  };
  /** A warning about a run's data. The run continues. */
  'run.warning': { readonly job: string; readonly run: string } & RunWarning;
  /**
   * Firings were skipped because the job was still running or because they were missed. `at` is the first firing's
   * time.
   */
  'firing.skipped': {
    readonly job: string;
    readonly at: number;
    readonly firings: number;
    readonly reason: string;
  };
  /** A firing is waiting for the previous run to end. */
  'firing.waiting': { readonly job: string; readonly at: number; readonly reason: string };
  /** A firing was deferred because the disk is full or failing. The firing's run starts when the disk works again. */
  'firing.deferred': { readonly job: string; readonly at: number; readonly code: string; readonly message: string };
  /** A firing was skipped because the job is throttled. `reason` says how much the job is throttled and until when. */
  'firing.throttled': { readonly job: string; readonly at: number; readonly reason: string };
  /**
   * The daily allowance is too small for all jobs. Until `until`, only every nth firing of the job runs (0: no firing
   * runs).
   */
  'job.throttled': { readonly job: string; readonly every: number; readonly message: string; readonly until: number };
  /** The job is no longer throttled and follows its schedule again. */
  'job.unthrottled': { readonly job: string };
  /** Even though the least important jobs are throttled, today's allowance is too small by this many requests. */
  'quota.short': {
    readonly account: string;
    readonly destination: string;
    readonly requests: number;
    readonly until: number;
  };
  /**
   * Payloads are owed to a destination that isn't in the config. They remain owed until the destination is added again.
   */
  'config.stranded': { readonly destination: string; readonly payloads: number };
  /**
   * The disk limit was reached, so files of delivered payloads that had been kept for a rollback were deleted, oldest
   * first.
   */
  'payloads.forgotten': { readonly payloads: number; readonly bytes: number };
  'config.reloaded': { readonly file: string; readonly jobs: number };
  /** The new config was rejected completely. The previous config stays active. */
  'config.refused': { readonly file: string; readonly errors: number };
  /** The schedules stopped, or an overdue firing hasn't started. The supervisor should restart the daemon. */
  'schedules.stopped': { readonly message: string };
  'schedules.resumed': { readonly message: string };
  /** The wall clock was changed by more than two seconds. `seconds` is negative if the clock was set back. */
  'clock.set': { readonly seconds: number; readonly message: string };
  /** The state isn't writable: the disk is full, failing or read-only. */
  'state.unwritable': {
    readonly code: string;
    readonly message: string;
    readonly seen?: string;
    readonly next?: string;
  };
  'state.writable': Readonly<Record<string, never>>;
  /** A source's check succeeded. */
  'source.answered': { readonly source: string; readonly milliseconds: number };
  /** A source's check failed, so the next run that reads the source will probably fail too. */
  'source.failed': {
    readonly source: string;
    readonly milliseconds: number;
    readonly since: number;
    readonly code: string;
    readonly message: string;
    readonly next?: string;
  };
  /** What a job's query wants done in its source after a delivery was done, such as moving the files that were read. */
  'source.updated': { readonly job: string; readonly run: string; readonly source: string; readonly actions: number };
  /**
   * A source's login was refused. All sources that use the account wait until `until`. If `until` is absent, they wait
   * until someone acts.
   */
  'source.on_hold': {
    readonly source: string;
    readonly place: string;
    readonly user: string;
    readonly refusals: number;
    readonly code: string;
    readonly message: string;
    readonly until?: number;
  };
  /** The login works again, so the waiting jobs can run. */
  'source.resumed': { readonly source: string; readonly place: string; readonly user: string };
  'daemon.started': {
    readonly version: string;
    readonly commit: string;
    readonly node: string;
    readonly pid: number;
    readonly config_sha256?: string;
    readonly jobs: number;
    readonly scheduled: number;
    readonly owed: number;
  };
  /** The installed package has changed since startup. */
  'daemon.outdated': { readonly code: string; readonly message: string; readonly seen: string };
  /** This process plans the runs of the fleet from now on. */
  'fleet.planning': Readonly<Record<string, never>>;
  /** This process no longer plans, but still runs jobs. */
  'fleet.resigned': { readonly reason: string };
  /** Runs are waiting that were planned with another config, so this process doesn't take them. */
  'fleet.config_differs': { readonly config_sha256: string; readonly planned_with: string };
  /** A process died during a run. */
  'fleet.run_recovered': { readonly job: string; readonly process: string; readonly is_begun_again: boolean };
  'daemon.stopping': { readonly reason: string };
};

/** All events. The log, the progress display and the history subscribe to them. */
export type SluiceEvents = PipelineEvents & DeliveryEvents & LoginEvents & RunEvents & AlertEvents;
