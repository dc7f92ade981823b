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

/** The documentation of every event. */
export const eventWords: WordsOf<SluiceEvents> = {
  'run.started': {
    says: 'A run starts, or another attempt of it.',
    facts: {
      job,
      run,
      origin: '`schedule` or `person`',
      attempt: 'number of the attempt, from the second on',
    },
  },
  'run.retrying': {
    says: 'An attempt failed with a transient error, and will be retried.',
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
    says: 'A run ended. `owed`: its payload exists and will be sent. The level is error if the outcome is `failed`, `quarantined` or `dead`.',
    facts: {
      job,
      run,
      outcome: 'result of the run',
      rows,
      bytes,
      requests: 'number of requests to the service',
      milliseconds,
      code,
      message,
      next,
    },
  },
  'run.warning': {
    says: 'A warning about the data of a run, which continues: truncated values, a declared column that no record had, replaced characters.',
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
    says: 'The run starts to read its source.',
    facts: { job, run, source, connector: 'the connector', at: 'time that the data is dated' },
  },
  'extract.progressed': {
    says: 'Progress of reading; at most four times per second.',
    facts: { job, run, rows, bytes },
  },
  'extract.finished': {
    says: 'All rows are read and encoded. The payload is spooled next, if it is to be sent.',
    facts: { job, run, rows: 'rows before the transforms', bytes, milliseconds },
  },
  'extract.unchanged': {
    says: 'The source reports no changes since the last run.',
    facts: { job, run, milliseconds },
  },
  'extract.failed': {
    says: 'Reading or transforming failed; nothing is sent.',
    facts: {
      job,
      run,
      rows,
      bytes,
      code,
      family: 'class of the error: `try_later`, `config`, `login` …',
      message,
      milliseconds,
    },
  },
  'payload.spooled': {
    says: 'The result is complete and synced to disk.',
    facts: {
      job,
      run,
      payload: 'its hash, size, rows and format',
      milliseconds: 'milliseconds that this took after the extract',
      reused: 'true if the same bytes were on disk already',
    },
  },
  ...deliveryWords,
  'payloads.forgotten': {
    says: 'Payloads that were kept for a rollback were deleted to free disk space, oldest first.',
    facts: { payloads, bytes },
  },
  'quota.short': {
    says: 'The daily allowance is not sufficient, even with throttling.',
    facts: { ...paying, requests: 'number of missing requests', until },
  },
  'token.asked': { says: 'A token request is sent to a vendor.', facts: { login, grant: 'the kind of grant' } },
  'token.answered': { says: 'The vendor returned a token.', facts: { login } },
  'token.stored': {
    says: 'The new token is stored, encrypted.',
    facts: { login, expires_at: 'when it expires, epoch milliseconds' },
  },
  'token.refused': { says: 'The vendor ended the login: a person must log in.', facts: { login, code, message } },
  'token.failed': { says: 'The token request failed; the login is still valid.', facts: { login, code, message } },
  'source.answered': { says: 'A source check succeeded.', facts: { source, milliseconds } },
  'source.failed': {
    says: 'A source check failed: the next run will probably fail.',
    facts: { source, milliseconds, since, code, message, next },
  },
  'source.on_hold': {
    says: 'The login of a source was refused and is on hold, so that the account is not locked; jobs of this account wait.',
    facts: { source, place, user, refusals: 'number of refusals', code, message, until },
  },
  'source.resumed': {
    says: 'The login of a source works again; waiting jobs run.',
    facts: { source, place, user },
  },
  'firing.skipped': { says: 'Firings were skipped.', facts: { job, at, firings, reason } },
  'firing.waiting': { says: 'A firing waits for the end of the previous run.', facts: { job, at, reason } },
  'firing.deferred': {
    says: 'The disk is full or fails, so the firing has no run. It fires again when the disk works.',
    facts: { job, at, code, message },
  },
  'firing.throttled': {
    says: 'A firing was skipped, because the job is throttled.',
    facts: { job, at, reason },
  },
  'job.throttled': {
    says: 'The daily allowance is not sufficient: the job runs less often.',
    facts: { job, every: 'only every nth firing runs; 0: none', message: 'the same as text', until },
  },
  'job.unthrottled': { says: 'The job runs by its schedule again.', facts: { job } },
  'alert.raised': {
    says: 'An alert was created; its messages are owed to the channels.',
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
    says: 'A message is sent to a channel.',
    facts: { channel, id: 'ID of the message', attempt },
  },
  'alert.sent': { says: 'The channel accepted the message.', facts: { channel, id: 'ID of the message', title } },
  'alert.unsent': {
    says: 'The channel failed; the message will be retried.',
    facts: { channel, id: 'ID of the message', attempt, problem, until },
  },
  'alert.given_up': {
    says: 'The message was dropped after all retries.',
    facts: { channel, id: 'ID of the message', title, problem },
  },
  'heartbeat.failed': {
    says: 'A heartbeat request failed.',
    facts: { channel, problem },
  },
  'config.reloaded': { says: 'A config is active as a whole.', facts: { file, jobs } },
  'config.refused': {
    says: 'A config was refused; the previous one stays active.',
    facts: { file, errors: 'number of errors' },
  },
  'config.stranded': {
    says: 'Payloads are owed to a destination that is not in the config; they stay owed.',
    facts: { destination, payloads },
  },
  'schedules.stopped': {
    says: 'The schedules stopped, or a firing stays overdue: restart the daemon.',
    facts: { message: 'the finding' },
  },
  'schedules.resumed': { says: 'The schedules run again.', facts: { message: 'the finding' } },
  'clock.set': {
    says: 'The clock of the machine was set by more than two seconds. Schedules use the new time.',
    facts: { seconds: 'the difference; negative: back', message: 'the same as text' },
  },
  'state.unwritable': {
    says: 'The state is not writable: the disk is full, fails or is read-only. Nothing runs or is sent until it works.',
    facts: { code, message, seen: 'the error of the disk, and the file', next: 'the fix' },
  },
  'state.writable': { says: 'The state is writable again.', facts: {} },
  'daemon.started': {
    says: 'The daemon started.',
    facts: {
      version: 'version of Sluice',
      commit: 'the commit, with `+changes` if files differed from it; `unknown` outside of a checkout',
      node: 'version of Node',
      pid: 'process ID',
      config_sha256: 'hash of the config file',
      jobs,
      scheduled: 'number of jobs with a schedule',
      owed: 'number of owed payloads',
    },
  },
  'daemon.outdated': {
    says: 'Another package was installed; the daemon exits with 75, so that the service manager starts the new one.',
    facts: { code, message, seen: 'the installed version' },
  },
  'daemon.stopping': { says: 'The daemon stops.', facts: { reason } },
};
