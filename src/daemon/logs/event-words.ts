import type { SluiceEvents } from '../events.ts';

type EventName = keyof SluiceEvents & string;
type FactOf<N extends EventName> = keyof SluiceEvents[N] & string;

/** An event as people read of it: a sentence, and every fact that it may carry, with what it means. */
export interface EventWords<F extends string = string> {
  readonly says: string;
  readonly facts: { readonly [K in F]: string };
}

// What the same word means wherever it stands.
const job = 'the job';
const run = 'the run: every line of one has the same';
const source = 'the source';
const destination = 'the destination';
const instance = 'the data-source instance';
const id = 'number of the payload in the outbox';
const bytes = 'size in bytes';
const rows = 'how many rows';
const milliseconds = 'how long it took';
const code = 'stable code of the problem';
const message = 'the problem in one sentence';
const next = 'what a person can do about it';
const account = 'whose allowance pays; a name of the config or a hash';
const until = 'instant from which on it goes on';
const at = 'instant that the firing stands for';
const reason = 'why';
const who = 'who decided it';
const why = 'the reason that was given';
const file = 'the config file';
const payloads = 'how many payloads';
const firings = 'how many firings';
const login = 'the login';
const place = 'the server';
const user = 'whom the source logs in as';
const channel = 'the channel';
const problem = 'the problem in one sentence';
const attempt = 'which attempt, from 1';
const method = 'of the request';
const path = 'of the request, without its query';
const said = 'what was found';
const jobs = 'how many jobs the config has';
const title = 'headline of the message';
const since = 'since when it is so';
const requested = 'how many data sources were to be refreshed';

const payload = { id, job, run, destination, instance, sha256: 'hash of the bytes', bytes, rows };
const { id: _, ...unborn } = payload;
const trouble = { code, message };
const by = { who, why };
const paying = { account, destination };

/**
 * Every event in words. The compiler holds it to the events: one without words, a fact without its meaning and a word that no
 * event has are errors here.
 */
export const eventWords: { readonly [N in EventName]: EventWords<FactOf<N>> } = {
  'run.started': {
    says: 'A run begins, or another attempt of it.',
    facts: {
      job,
      run,
      origin: '`schedule` or `person`',
      attempt: 'which attempt of the run it is, from the second on',
    },
  },
  'run.retrying': {
    says: 'An attempt of a run failed for a reason that passes, and another one follows.',
    facts: {
      job,
      run,
      attempt: 'which attempt it was',
      at: 'when the next one is due',
      milliseconds,
      code,
      message,
      next,
    },
  },
  'run.finished': {
    says: 'A run has ended. `owed`: its payload is made, and is sent next. It is an error where the outcome is `failed`, `quarantined` or `dead`.',
    facts: {
      job,
      run,
      outcome: 'what it came to',
      rows,
      bytes,
      requests: 'how many requests to the service it cost',
      milliseconds,
      code,
      message,
      next,
    },
  },
  'run.warning': {
    says: 'Something about the data of a run that a person should know, though the run goes on: values that the server cut, a declared column that no record had, characters that were replaced.',
    facts: {
      job,
      run,
      code,
      message,
      seen: 'the value seen',
      next,
      incomplete: 'true if rows may be missing or be there twice',
      replaced: 'true if characters were replaced by U+FFFD',
    },
  },
  'extract.started': {
    says: 'The source is asked.',
    facts: { job, run, source, connector: 'what reads it', at: 'instant from which on the data counts as read' },
  },
  'extract.progressed': { says: 'Rows arrive; four times a second at most.', facts: { job, run, rows, bytes } },
  'extract.unchanged': {
    says: 'The source says that nothing has changed since the last run.',
    facts: { job, run, milliseconds },
  },
  'extract.failed': {
    says: 'The source could not be read to its end, or its rows could not be shaped; nothing of it is sent.',
    facts: {
      job,
      run,
      rows,
      bytes,
      code,
      family: 'what Sluice does about it: `try_later`, `config`, `login` …',
      message,
      milliseconds,
    },
  },
  'payload.spooled': {
    says: 'The result is whole, on the disk and synced.',
    facts: {
      job,
      run,
      payload: 'hash, size, rows and format of it',
      rowsRead: 'rows before the transforms',
      milliseconds,
      reused: 'these very bytes were there already',
    },
  },
  'payload.shown': {
    says: 'The instance shows these very bytes already; nothing was kept.',
    facts: { job, run, rows, bytes, milliseconds },
  },
  'payload.owed': {
    says: 'From here on the payload is delivered, superseded, quarantined or dead, whatever happens to the process.',
    facts: payload,
  },
  'payload.superseded': { says: 'Newer data for the same instance took its place.', facts: payload },
  'payload.unchanged': { says: 'The instance has these very bytes; they are not sent again.', facts: unborn },
  'payload.refused': {
    says: 'The result breaks a rule (it has no rows, it is too large) and is not sent.',
    facts: { ...unborn, ...trouble },
  },
  'payload.quarantined': {
    says: 'A guard holds the result back until a person decides.',
    facts: { ...payload, ...trouble, guards: 'which ones' },
  },
  'payload.approved': { says: 'A person let a quarantined payload go.', facts: { ...payload, ...by } },
  'payload.discarded': { says: 'A person put a quarantined payload away.', facts: { ...payload, ...by } },
  'payload.restored': { says: 'A person put a former payload back; the job is held.', facts: { ...payload, ...by } },
  'payload.revived': { says: 'A person lets a dead payload try again.', facts: { ...payload, ...by } },
  'payload.delivered': {
    says: 'The service took it.',
    facts: { ...payload, attempts: 'how many it needed', milliseconds },
  },
  'payload.repeated': {
    says: 'Sent once more, because an earlier upload had no answer and might have come late.',
    facts: { ...payload, milliseconds },
  },
  'payload.dead': { says: 'The service will not take it; a person has to look.', facts: { ...payload, ...trouble } },
  'payload.waiting': {
    says: 'It was not taken this time and waits.',
    facts: { ...payload, ...trouble, until, attempt: 'the one that failed; absent where none was made' },
  },
  'payloads.forgotten': {
    says: 'There was no room: payloads that were kept for a rollback are gone, the oldest first.',
    facts: { payloads, bytes },
  },
  'upload.started': { says: 'An attempt is counted and begins.', facts: { ...payload, attempt } },
  'upload.failed': {
    says: 'An attempt has failed.',
    facts: { ...payload, ...trouble, attempt, action: 'what is done about it' },
  },
  'request.sent': {
    says: 'A request to the service goes out.',
    facts: { account, method, path, milliseconds: 'how long it stood in line' },
  },
  'request.answered': {
    says: 'The service has answered, or has not.',
    facts: {
      account,
      method,
      path,
      status: 'of the answer; absent where none came',
      milliseconds,
      limit: 'the limit that it says is reached: `second` or `day`',
    },
  },
  'quota.spent': { says: 'The allowance of the day is used up; what is owed waits.', facts: { ...paying, until } },
  'quota.turned': { says: 'The day has turned, and there are requests again.', facts: paying },
  'quota.short': {
    says: 'Even with the least important jobs throttled, requests are missing until the day turns.',
    facts: { ...paying, requests: 'how many are missing', until },
  },
  'account.held': {
    says: 'The service asks for quiet; nothing is sent on this account until then.',
    facts: { ...paying, until, refusals: 'how many times in a row' },
  },
  'account.slowed': {
    says: 'The service took fewer requests a second than it says; from now on fewer are sent.',
    facts: { ...paying, per_second: 'how many from now on' },
  },
  'usage.told': {
    says: 'The service has told what it counted on the running day.',
    facts: {
      ...paying,
      day: 'in New York',
      used: 'requests in all',
      others: 'of them, those that others made',
      allowance: 'how many there are in all, where it says so',
    },
  },
  'usage.refused': {
    says: 'The service will not tell what the account has used; it is not asked again for a week.',
    facts: { ...paying, message },
  },
  'login.refused': {
    says: 'A destination refuses our credentials; what is owed waits.',
    facts: { ...paying, ...trouble },
  },
  'refresh.queued': {
    says: 'The service fetches data sources anew.',
    facts: { destination, requested, queued: 'how many it took' },
  },
  'refresh.failed': {
    says: 'Some data sources were not taken for a refresh.',
    facts: { destination, requested, failed: 'which ones, each with its error and status' },
  },
  'token.asked': { says: 'A vendor is about to be asked for a token.', facts: { login, grant: 'the kind of grant' } },
  'token.answered': { says: 'The vendor has given a token.', facts: { login } },
  'token.kept': {
    says: 'The new token is on the disk, encrypted.',
    facts: { login, expires_at: 'when it ends, epoch milliseconds' },
  },
  'token.refused': { says: 'The vendor has ended the login: a person has to log in.', facts: { login, code, message } },
  'token.failed': { says: 'No token this time; the login is as good as before.', facts: { login, code, message } },
  'source.answered': { says: 'A source was looked at, and answers.', facts: { source, milliseconds } },
  'source.silent': {
    says: 'A source was looked at, and does not answer: the next run is likely to fail.',
    facts: { source, milliseconds, since, code, message, next },
  },
  'source.held': {
    says: 'The login of a source was refused. It is not sent again for now, so that the account is not locked; jobs of this account wait.',
    facts: { source, place, user, refusals: 'how often it was refused', code, message, until },
  },
  'source.resumed': {
    says: 'The login of a source works again: jobs that waited run.',
    facts: { source, place, user },
  },
  'firing.skipped': { says: 'Firings came to nothing.', facts: { job, at, firings, reason } },
  'firing.waiting': { says: 'A firing waits for the end of the run before it.', facts: { job, at, reason } },
  'firing.deferred': {
    says: 'The disk is full or fails: the firing has no run. It fires again when the disk works.',
    facts: { job, at, code, message },
  },
  'firing.throttled': {
    says: 'A firing was passed over, because the job runs less often.',
    facts: { job, at, reason },
  },
  'job.throttled': {
    says: 'The day does not reach for all: the job runs less often.',
    facts: { job, every: 'only every so many-th firing runs; 0: none', says: 'the same in words', until },
  },
  'job.unthrottled': { says: 'The job runs as its schedule says again.', facts: { job } },
  'alert.raised': {
    says: 'People are to hear of something; it is owed to the channels.',
    facts: {
      occasion: 'of what',
      kind: '`opened`, `worse`, `reminder`, `recovered`',
      open: 'how many are wrong now',
      fresh: 'how many of them are new',
      recovered: 'how many are over',
      channels: 'who hears of it',
      subjects: 'what it is about',
    },
  },
  'alert.sending': {
    says: 'A message is about to be handed to a channel.',
    facts: { channel, id: 'of the message', attempt },
  },
  'alert.sent': { says: 'The channel took it.', facts: { channel, id: 'of the message', title } },
  'alert.unsent': {
    says: 'The channel did not take it; it is tried again.',
    facts: { channel, id: 'of the message', attempt, problem, until },
  },
  'alert.given_up': {
    says: 'Nobody will get this message any more.',
    facts: { channel, id: 'of the message', title, problem },
  },
  'heartbeat.failed': {
    says: 'The address of a heartbeat was asked and did not answer well.',
    facts: { channel, problem },
  },
  'config.reloaded': { says: 'A config is in force, whole.', facts: { file, jobs } },
  'config.refused': {
    says: 'A config was not taken; the former one stays in force.',
    facts: { file, faults: 'how many it has' },
  },
  'config.stranded': {
    says: 'Payloads are owed to a destination that the config does not have; they stay owed.',
    facts: { destination, payloads },
  },
  'schedules.stopped': {
    says: 'Nobody looks at the schedules, or a firing stays due: restart the daemon.',
    facts: { said },
  },
  'schedules.resumed': { says: 'The schedules tick again.', facts: { said } },
  'clock.set': {
    says: 'The clock of the machine was set by more than two seconds. The schedules are planned by the new time.',
    facts: { seconds: 'by how much; below zero: back', says: 'the same in words' },
  },
  'state.unwritable': {
    says: 'The state takes no writes: the disk is full, fails or is read-only. Nothing is run or sent until it works.',
    facts: { code, message, seen: 'what the disk said, and the file', next: 'what to do about it' },
  },
  'state.writable': { says: 'The state takes writes again.', facts: {} },
  'daemon.started': {
    says: 'The daemon has begun.',
    facts: {
      version: 'version of Sluice',
      commit:
        'the commit that was built, with `+changes` if the files differed from it; `unknown` outside of a checkout',
      node: 'version of Node',
      pid: 'number of the process',
      config_sha256: 'hash of the config file',
      jobs,
      scheduled: 'how many of them fire by themselves',
      owed: 'how many payloads wait',
    },
  },
  'daemon.outdated': {
    says: 'Another package was installed; the daemon ends with 75, and the service manager starts the new one.',
    facts: { code, message, seen: 'what is installed now' },
  },
  'daemon.stopping': { says: 'The daemon ends.', facts: { reason } },
};
