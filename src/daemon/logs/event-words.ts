import type { SluiceEvents } from '../events.ts';

type EventName = keyof SluiceEvents & string;
type FactOf<N extends EventName> = keyof SluiceEvents[N] & string;

/** The documentation of an event: a sentence, and the meaning of each field. */
export interface EventWords<F extends string = string> {
  readonly says: string;
  readonly facts: { readonly [K in F]: string };
}

// Fields that mean the same in every event.
const job = 'the job';
const run = 'the run; all its lines have the same value';
const source = 'the source';
const destination = 'the destination';
const instance = 'the data-source instance';
const id = 'number of the payload in the outbox';
const bytes = 'size in bytes';
const rows = 'number of rows';
const milliseconds = 'duration';
const code = 'error code ([errors.md](errors.md))';
const message = 'the error message';
const next = 'the fix';
const account = 'the account whose requests are counted: a name from the config, or a hash';
const until = 'when it continues';
const at = 'planned time of the firing';
const reason = 'the reason';
const who = 'the user who decided';
const why = 'the reason that the user gave';
const file = 'the config file';
const payloads = 'number of payloads';
const firings = 'number of firings';
const login = 'the login';
const place = 'the server';
const user = 'the user that the source logs in as';
const channel = 'the channel';
const problem = 'the error message';
const attempt = 'number of the attempt, from 1';
const method = 'method of the request';
const path = 'path of the request, without the query';
const jobs = 'number of jobs in the config';
const title = 'title of the message';
const since = 'when it started';
const requested = 'number of requested data sources';

const payload = { id, job, run, destination, instance, sha256: 'hash of the bytes', bytes, rows };
const { id: _, ...unborn } = payload;
const trouble = { code, message };
const by = { who, why };
const paying = { account, destination };

/** The documentation of every event. The compiler rejects missing and unknown events and fields. */
export const eventWords: { readonly [N in EventName]: EventWords<FactOf<N>> } = {
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
  'payload.owed': {
    says: 'The payload is in the outbox. From now on, it will be delivered, superseded, quarantined or dead.',
    facts: payload,
  },
  'payload.superseded': { says: 'Newer data for the same instance replaced it.', facts: payload },
  'payload.unchanged': { says: 'The instance has these bytes; they are not sent again.', facts: unborn },
  'payload.refused': {
    says: 'The result is refused (no rows, or too large) and not sent.',
    facts: { ...unborn, ...trouble },
  },
  'payload.quarantined': {
    says: 'A guard quarantined the result until a person decides.',
    facts: { ...payload, ...trouble, guards: 'the guards' },
  },
  'payload.approved': { says: 'A person approved a quarantined payload.', facts: { ...payload, ...by } },
  'payload.discarded': { says: 'A person discarded a quarantined payload.', facts: { ...payload, ...by } },
  'payload.restored': {
    says: 'A person rolled back to an earlier payload; the job is on hold.',
    facts: { ...payload, ...by },
  },
  'payload.revived': { says: 'A person requested another attempt for a dead payload.', facts: { ...payload, ...by } },
  'payload.delivered': {
    says: 'The service accepted the payload.',
    facts: { ...payload, attempts: 'number of attempts', milliseconds },
  },
  'payload.repeated': {
    says: 'Sent again, because an earlier upload had no answer and might have arrived late.',
    facts: { ...payload, milliseconds },
  },
  'payload.dead': { says: 'The service rejected the payload; a person must act.', facts: { ...payload, ...trouble } },
  'payload.waiting': {
    says: 'The upload failed; the payload waits for a retry.',
    facts: { ...payload, ...trouble, until, attempt: 'number of the failed attempt; absent if none was made' },
  },
  'payloads.forgotten': {
    says: 'Payloads that were kept for a rollback were deleted to free disk space, oldest first.',
    facts: { payloads, bytes },
  },
  'upload.started': { says: 'An upload attempt starts and is counted.', facts: { ...payload, attempt } },
  'upload.failed': {
    says: 'An upload attempt failed.',
    facts: { ...payload, ...trouble, attempt, action: 'what happens next' },
  },
  'request.sent': {
    says: 'A request is sent to the service.',
    facts: { account, method, path, milliseconds: 'how long it waited for a slot' },
  },
  'request.answered': {
    says: 'The service answered, or the request failed.',
    facts: {
      account,
      method,
      path,
      status: 'status of the answer; absent without an answer',
      milliseconds,
      limit: 'the limit that was exceeded: `second` or `day`',
    },
  },
  'quota.spent': { says: 'The daily allowance is used up; owed payloads wait.', facts: { ...paying, until } },
  'quota.turned': { says: 'A new day started, and requests are available again.', facts: paying },
  'quota.short': {
    says: 'The daily allowance is not sufficient, even with throttling.',
    facts: { ...paying, requests: 'number of missing requests', until },
  },
  'account.held': {
    says: 'Rate-limited by the service; nothing is sent for this account until then.',
    facts: { ...paying, until, refusals: 'number of times in a row' },
  },
  'account.slowed': {
    says: 'The service accepted fewer requests per second than documented; the rate is reduced.',
    facts: { ...paying, per_second: 'the new rate' },
  },
  'usage.told': {
    says: 'The service reported its request count of the day.',
    facts: {
      ...paying,
      day: 'the day in New York',
      used: 'all requests',
      others: 'requests of other programs',
      allowance: 'the allowance, if reported',
    },
  },
  'usage.refused': {
    says: 'The service refuses to report usage; it is asked again in a week.',
    facts: { ...paying, message },
  },
  'login.refused': {
    says: 'A destination refuses the credentials; owed payloads wait.',
    facts: { ...paying, ...trouble },
  },
  'refresh.queued': {
    says: 'The service queued a refresh of data sources.',
    facts: { destination, requested, queued: 'number of accepted data sources' },
  },
  'refresh.failed': {
    says: 'The service refused to refresh some data sources.',
    facts: { destination, requested, failed: 'the data sources, with error and status' },
  },
  'token.asked': { says: 'A token request is sent to a vendor.', facts: { login, grant: 'the kind of grant' } },
  'token.answered': { says: 'The vendor returned a token.', facts: { login } },
  'token.kept': {
    says: 'The new token is stored, encrypted.',
    facts: { login, expires_at: 'when it expires, epoch milliseconds' },
  },
  'token.refused': { says: 'The vendor ended the login: a person must log in.', facts: { login, code, message } },
  'token.failed': { says: 'The token request failed; the login is still valid.', facts: { login, code, message } },
  'source.answered': { says: 'A source check succeeded.', facts: { source, milliseconds } },
  'source.silent': {
    says: 'A source check failed: the next run will probably fail.',
    facts: { source, milliseconds, since, code, message, next },
  },
  'source.held': {
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
    facts: { file, faults: 'number of errors' },
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
