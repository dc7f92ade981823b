import type { SluiceEvents } from '../events.ts';
import { deliveryWords } from './delivery-words.ts';
import {
  at,
  attempt,
  bytes,
  channel,
  code,
  destination,
  file,
  firings,
  job,
  jobs,
  login,
  message,
  milliseconds,
  next,
  paying,
  payloads,
  place,
  problem,
  reason,
  rows,
  run,
  since,
  source,
  title,
  until,
  user,
  type WordsOf,
} from './field-words.ts';

/** Documentation of every event. */
export const eventWords: WordsOf<SluiceEvents> = {
  'run.started': {
    description: 'A run or another attempt of it started.',
    facts: {
      job,
      run,
      origin: '`schedule` or `person`',
      attempt: 'attempt number, absent for the first attempt',
    },
  },
  'run.retrying': {
    description: 'An attempt failed with a transient error. The run will be retried.',
    facts: {
      job,
      run,
      attempt: 'number of the failed attempt',
      at: 'time of the next attempt',
      milliseconds,
      code,
      message,
      next,
    },
  },
  'run.finished': {
    description:
      'A run ended. The outcome `owed` means that its payload is complete and will be sent. The level is `error` if the outcome is `failed`, `quarantined` or `dead`.',
    facts: {
      job,
      run,
      outcome: 'result of the run',
      rows,
      bytes,
      requests: 'number of requests to the service',
      milliseconds: 'duration of all attempts of the run, including the waits between them',
      attempts: 'number of attempts, if more than one',
      code,
      message,
      next,
    },
  },
  'run.warning': {
    description:
      "A warning about a run's data, such as truncated values, a declared column that no record had, or replaced characters. The run continues.",
    facts: {
      job,
      run,
      code,
      message,
      seen: 'the value seen',
      next,
      incomplete: 'true if rows may be missing or duplicated',
      replaced: 'true if characters were replaced by U+FFFD',
    },
  },
  'extract.started': {
    description: 'The run starts reading its source.',
    facts: { job, run, source, connector: 'the connector', at: 'time at which the data was current' },
  },
  'extract.progressed': {
    description: 'Reading progress, logged at most four times per second.',
    facts: { job, run, rows, bytes },
  },
  'extract.finished': {
    description: 'All rows were read and encoded. If the payload must be sent, it is spooled next.',
    facts: { job, run, rows: 'rows before the transforms', bytes, milliseconds },
  },
  'extract.unchanged': {
    description: 'The source reports no changes since the last run.',
    facts: { job, run, milliseconds },
  },
  'extract.failed': {
    description: 'Reading or transforming the rows failed, so no data is sent.',
    facts: {
      job,
      run,
      rows,
      bytes,
      code,
      family: 'error class, such as `try_later`, `config` or `login`',
      message,
      milliseconds,
    },
  },
  'payload.spooled': {
    description: 'The result is complete and synced to disk.',
    facts: {
      job,
      run,
      payload: "the payload's hash, size, row count and format",
      milliseconds: 'duration after the extract',
      reused: 'true if the same bytes were already on disk',
    },
  },
  ...deliveryWords,
  'payloads.forgotten': {
    description: 'Payloads kept for rollback were deleted to free disk space, oldest first.',
    facts: { payloads, bytes },
  },
  'quota.short': {
    description: 'The daily allowance is not enough for all scheduled runs, even with throttling.',
    facts: { ...paying, requests: 'number of requests by which the allowance falls short', until },
  },
  'token.asked': { description: 'A token request was sent to a vendor.', facts: { login, grant: 'the kind of grant' } },
  'token.answered': { description: 'The vendor returned a token.', facts: { login } },
  'token.stored': {
    description: 'The new token was encrypted and stored.',
    facts: { login, expires_at: 'when the token expires, in epoch milliseconds' },
  },
  'token.refused': {
    description: 'The vendor ended the login; a person must log in again.',
    facts: { login, code, message },
  },
  'token.failed': {
    description: 'The token request failed; the login is still valid.',
    facts: { login, code, message },
  },
  'source.answered': { description: 'A source check succeeded.', facts: { source, milliseconds } },
  'source.failed': {
    description: 'A source check failed, so the next run will probably fail.',
    facts: { source, milliseconds, since, code, message, next },
  },
  'source.updated': {
    description: 'Actions after a delivery were completed, such as moving files.',
    facts: { job, run, source, actions: 'number of actions, such as moved files' },
  },
  'source.on_hold': {
    description:
      'A source refused the login. The login is on hold so that the account is not locked; jobs that use it wait.',
    facts: { source, place, user, refusals: 'number of refusals', code, message, until },
  },
  'source.resumed': {
    description: "A source's login works again; the jobs that waited for it run.",
    facts: { source, place, user },
  },
  'firing.skipped': { description: 'Firings were skipped.', facts: { job, at, firings, reason } },
  'firing.waiting': { description: "A firing waits for the job's previous run to end.", facts: { job, at, reason } },
  'firing.deferred': {
    description: 'The disk is full or failing, so the job could not run. The run starts when the disk works again.',
    facts: { job, at, code, message },
  },
  'firing.throttled': {
    description: 'A firing was skipped because the job is throttled.',
    facts: { job, at, reason },
  },
  'job.throttled': {
    description: 'The daily allowance is not enough for all scheduled runs, so the job runs less often.',
    facts: {
      job,
      every: 'only every nth firing starts a run; 0 means that no firing does',
      message: 'the same facts as a sentence',
      until,
    },
  },
  'job.unthrottled': { description: 'The job runs on its normal schedule again.', facts: { job } },
  'alert.raised': {
    description: 'An alert was created; its messages will be sent to the channels.',
    facts: {
      occasion: 'the occasion',
      kind: '`opened`, `worse`, `reminder`, `recovered`',
      open: 'number of open problems',
      fresh: 'number of new problems',
      recovered: 'number of resolved problems',
      channels: 'the channels',
      subjects: 'the subjects',
    },
  },
  'alert.sending': {
    description: 'A message is being sent to a channel.',
    facts: { channel, id: 'ID of the message', attempt },
  },
  'alert.sent': {
    description: 'The channel accepted the message.',
    facts: { channel, id: 'ID of the message', title },
  },
  'alert.unsent': {
    description: 'Sending to the channel failed and will be retried.',
    facts: { channel, id: 'ID of the message', attempt, problem, until },
  },
  'alert.given_up': {
    description: 'The message was dropped after the last retry failed.',
    facts: { channel, id: 'ID of the message', title, problem },
  },
  'heartbeat.failed': {
    description: 'A heartbeat request failed.',
    facts: { channel, problem },
  },
  'config.reloaded': { description: 'A new config is fully active.', facts: { file, jobs } },
  'config.refused': {
    description: 'A config was refused; the previous one stays active.',
    facts: { file, errors: 'number of errors' },
  },
  'config.stranded': {
    description: 'Payloads are waiting for a destination that is not in the config; they stay in the outbox.',
    facts: { destination, payloads },
  },
  'schedules.stopped': {
    description: 'The schedules stopped, or a firing is still overdue. Restart the daemon.',
    facts: { message: 'the finding' },
  },
  'schedules.resumed': { description: 'The schedules run again.', facts: { message: 'the finding' } },
  'clock.set': {
    description: "The machine's clock was set forward or back by more than two seconds. Schedules use the new time.",
    facts: { seconds: 'the difference; negative if the clock was set back', message: 'the same facts as a sentence' },
  },
  'state.unwritable': {
    description:
      'The state is not writable: the disk is full, failing or read-only. No jobs run and no data is sent until it is writable again.',
    facts: { code, message, seen: 'the disk error and the file', next: 'the fix' },
  },
  'state.writable': { description: 'The state is writable again.', facts: {} },
  'daemon.started': {
    description: 'The daemon started.',
    facts: {
      version: 'version of Sluice',
      commit:
        'commit that Sluice was built from, with `+changes` if files differed from it; `unknown` if not built in a git checkout',
      node: 'version of Node',
      pid: 'process ID',
      config_sha256: 'hash of the config file',
      jobs,
      scheduled: 'number of jobs with a schedule',
      owed: 'number of unsent payloads',
    },
  },
  'daemon.outdated': {
    description:
      'Another version of Sluice was installed. The daemon exits with code 75 so that the service manager starts the new version.',
    facts: { code, message, seen: 'the installed version' },
  },
  'fleet.planning': { description: 'This process plans the runs of all processes that share the state.', facts: {} },
  'fleet.resigned': { description: 'This process no longer plans, but still runs jobs.', facts: { reason } },
  'fleet.config_differs': {
    description:
      'Runs are waiting that were planned with another config, so this process does not take them. Give all processes the same config and reload it.',
    facts: { config_sha256: "hash of this process's config file", planned_with: "hash of the planner's config file" },
  },
  'fleet.run_recovered': {
    description: 'A process died during a run.',
    facts: { job, process: 'the dead process', is_begun_again: 'whether the run begins again' },
  },
  'daemon.stopping': { description: 'The daemon is stopping.', facts: { reason } },
};
