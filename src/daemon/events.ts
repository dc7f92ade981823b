import type { AlertEvents } from '../alerts/events.ts';
import type { DeliveryEvents } from '../delivery/events.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { LoginEvents } from '../oauth/events.ts';
import type { PipelineEvents } from '../pipeline/events.ts';
import type { RunOutcome } from './run/run-outcome.ts';

/** What happens to runs, firings and the daemon itself. Instants are epoch milliseconds. */
export type RunEvents = {
  /** An attempt of a run begins; `attempt` is there from the second on. */
  'run.started': {
    readonly job: string;
    readonly run: string;
    readonly origin: 'person' | 'schedule';
    readonly attempt?: number;
  };
  /** A passing fault ended an attempt of a run; the next one is due at `at`. */
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
  /** A run has ended, with its last attempt: once for each firing. */
  'run.finished': {
    readonly job: string;
    readonly run: string;
    readonly outcome: RunOutcome['state'];
    readonly rows: number;
    readonly bytes: number;
    readonly requests: number;
    /** Of all its attempts, with the waits between them. */
    readonly milliseconds: number;
    /** Absent if there was one. */
    readonly attempts?: number;
    readonly code?: string;
    readonly message?: string;
    /** What a person can do about it. */
    readonly next?: string;
  };
  /** Something about the data of a run that a person should know, though the run goes on. */
  'run.warning': { readonly job: string; readonly run: string } & RunWarning;
  /** Firings that came to nothing, and why: the job is still at its last one, or they were missed. `at`: of the first. */
  'firing.skipped': {
    readonly job: string;
    readonly at: number;
    readonly firings: number;
    readonly reason: string;
  };
  /** A firing that waits for the end of the run before it. */
  'firing.waiting': { readonly job: string; readonly at: number; readonly reason: string };
  /** A firing that the disk was in the way of, full or failing: it fires again when the disk works. */
  'firing.deferred': { readonly job: string; readonly at: number; readonly code: string; readonly message: string };
  /** A firing that was passed over because the job runs less often; `reason` says how and until when. */
  'firing.throttled': { readonly job: string; readonly at: number; readonly reason: string };
  /** The day does not reach for all: until `until` only every n-th firing of the job runs (0: none), as `says` says. */
  'job.throttled': { readonly job: string; readonly every: number; readonly message: string; readonly until: number };
  /** The job runs as its schedule says again. */
  'job.unthrottled': { readonly job: string };
  /** Even with the least important jobs throttled, so many requests are missing until the day turns. */
  'quota.short': {
    readonly account: string;
    readonly destination: string;
    readonly requests: number;
    readonly until: number;
  };
  /** Owed to a destination that the config does not have: it stays owed until one of that name is there again. */
  'config.stranded': { readonly destination: string; readonly payloads: number };
  /** There was no room for something new: files of delivered payloads that were kept for a rollback are gone, the oldest first. */
  'payloads.forgotten': { readonly payloads: number; readonly bytes: number };
  'config.reloaded': { readonly file: string; readonly jobs: number };
  /** The new config is refused as a whole: the previous one stays active. */
  'config.refused': { readonly file: string; readonly errors: number };
  /** The schedules stopped, or a firing stays overdue: the supervisor should restart the daemon. */
  'schedules.stopped': { readonly message: string };
  'schedules.resumed': { readonly message: string };
  /** The wall clock was set by more than two seconds, back where they are below zero. */
  'clock.set': { readonly seconds: number; readonly message: string };
  /** The state takes no writes: the disk is full, fails or is read-only. */
  'state.unwritable': {
    readonly code: string;
    readonly message: string;
    readonly seen?: string;
    readonly next?: string;
  };
  'state.writable': Readonly<Record<string, never>>;
  /** A source was looked at, and answered. */
  'source.answered': { readonly source: string; readonly milliseconds: number };
  /** It did not: the next run that reads it is likely to fail as well. */
  'source.failed': {
    readonly source: string;
    readonly milliseconds: number;
    readonly since: number;
    readonly code: string;
    readonly message: string;
    readonly next?: string;
  };
  /** The login of a source was refused: all sources of the account wait until `until`, or for a person where it is absent. */
  'source.on_hold': {
    readonly source: string;
    readonly place: string;
    readonly user: string;
    readonly refusals: number;
    readonly code: string;
    readonly message: string;
    readonly until?: number;
  };
  /** The login works: jobs that waited run. */
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
  /** The installed package is another one than at the start. */
  'daemon.outdated': { readonly code: string; readonly message: string; readonly seen: string };
  'daemon.stopping': { readonly reason: string };
};

/** Everything that is ever said. Log, progress and history listen to this. */
export type SluiceEvents = PipelineEvents & DeliveryEvents & LoginEvents & RunEvents & AlertEvents;
