import type { Generated, Selectable } from 'kysely';

/** The tables as the newest migration leaves them. Instants are epoch milliseconds, flags 0 or 1. */
export interface Tables {
  migrations: MigrationsTable;
  owners: OwnersTable;
  runs: RunsTable;
  outbox: OutboxTable;
  receipts: ReceiptsTable;
  quota: QuotaTable;
  sends: SendsTable;
  accounts: AccountsTable;
  leases: LeasesTable;
  logins: LoginsTable;
  schedules: SchedulesTable;
  skips: SkipsTable;
  targets: TargetsTable;
  settings: SettingsTable;
  watermarks: WatermarksTable;
  generations: GenerationsTable;
  sets: SetsTable;
  backfills: BackfillsTable;
  quarantine: QuarantineTable;
  holds: HoldsTable;
  audit: AuditTable;
  usage: UsageTable;
  stretches: StretchesTable;
  alerts: AlertsTable;
  alert_groups: AlertGroupsTable;
  alert_watches: AlertWatchesTable;
  alert_messages: AlertMessagesTable;
}

interface MigrationsTable {
  number: number;
  name: string;
  at: number;
}

interface OwnersTable {
  owner: string;
  beat_wall: number;
  /** Monotonic milliseconds of the owner's boot. */
  beat_monotonic: number;
}

interface RunsTable {
  sequence: Generated<number>;
  id: string;
  job: string;
  origin: 'person' | 'schedule';
  owner: string;
  state: RunState;
  started_at: number;
  ended_at: number | null;
  row_count: number | null;
  bytes: number | null;
  requests: number;
  code: string | null;
  message: string | null;
  /** What a person can do about it, in the words of the problem that ended it. */
  next: string | null;
}

/**
 * `running` until its payload is owed or it ends; `owed` until the payload is settled; the rest are results.
 * `interrupted`: its process died under it. `quarantined`: a guard held its payload back; `discarded`: a person put that away.
 */
export type RunState =
  | 'running'
  | 'owed'
  | 'delivered'
  | 'unchanged'
  | 'superseded'
  | 'refreshed'
  | 'dead'
  | 'quarantined'
  | 'discarded'
  | 'failed'
  | 'interrupted';

interface OutboxTable {
  id: Generated<number>;
  run: string;
  job: string;
  destination: string;
  url: string;
  /** Empty when the target names no client. */
  client_id: string;
  instance: string;
  sha256: string;
  path: string;
  bytes: number;
  row_count: number;
  format: 'csv' | 'json' | 'xml';
  media_type: string;
  as_of: number;
  always: number;
  state: OutboxState;
  attempts: number;
  /** Attempts in a row that had no end, because their process died: not in `attempts`. */
  cuts: Generated<number>;
  /** Of `attempts`, those that failed while the service took something else: the payload is to blame, and not the service. */
  blames: Generated<number>;
  last_attempt_at: number | null;
  next_attempt_at: number | null;
  code: string | null;
  message: string | null;
  owed_at: number;
  /** Since when the instance waits for this or something older: what supersedes takes over the wait. */
  waiting_since: number;
  settled_at: number | null;
}

export type OutboxState = 'owed' | 'delivered' | 'superseded' | 'quarantined' | 'discarded' | 'dead';

interface ReceiptsTable {
  url: string;
  client_id: string;
  instance: string;
  sha256: string;
  bytes: number;
  format: string;
  as_of: number;
  at: number;
  /** 1: the last request to the instance was answered with success. 0: one was begun, its end is not known. */
  certain: number;
  /** Age of the newest data that was ever tried, arrived or not. */
  tried_as_of: number;
}

interface QuotaTable {
  account: string;
  /** YYYY-MM-DD in America/New_York. */
  day: string;
  used: number;
  /** Requests that others were seen to make on the same account. */
  others: Generated<number>;
  /** What the service says that the account may use on this day; null: it has not said. */
  allowance: number | null;
  /** When the service said that nothing is left, and until when that holds. */
  spent_at: number | null;
  spent_until: number | null;
}

interface SendsTable {
  account: string;
  slot: number;
  owner: string;
  boot: string;
  /** Null while the request is under way; then the monotonic instant from which the slot can be taken again. */
  free_at: number | null;
  ticket: string;
  /** The days that the request was paid on, between commas. */
  days: string;
}

interface AccountsTable {
  account: string;
  held_at: number;
  held_until: number;
  /** Requests a second that the service was seen to take, and when that was seen; null: never less than asked. */
  slowed_to: number | null;
  slowed_at: number | null;
}

interface LeasesTable {
  name: string;
  owner: string;
  token: string;
  taken_at: number;
}

interface LoginsTable {
  name: string;
  /** Where and for whom: what the tokens were given for. They are of no use to anything else. */
  identity: string;
  /** The tokens, encrypted. */
  sealed: string;
  /** Which key opens `sealed`. */
  key_id: string;
  state: LoginState;
  /** Whose login it is, where the vendor says so. */
  who: string | null;
  /** As granted, between spaces. */
  scopes: string;
  /** End of the access token; null when it does not expire. */
  expires_at: number | null;
  made_at: number;
  renewed_at: number;
  /** Set while a renewal is under way: found set by the next one, that renewal's answer was lost. */
  asked_at: number | null;
  code: string | null;
  message: string | null;
}

/** `refused`: the vendor took the grant back; the tokens stay for inspection. */
export type LoginState = 'good' | 'refused';

interface SchedulesTable {
  job: string;
  /** The words that `next_at` was reckoned from: when they change, so must it. */
  schedule: string;
  next_at: number;
}

/** Firings of a job that came to nothing for one reason, one after the other. */
interface SkipsTable {
  sequence: Generated<number>;
  job: string;
  reason: string;
  /** Planned instants of the first and the last of them. */
  first_at: number;
  last_at: number;
  firings: number;
  noted_at: number;
}

interface TargetsTable {
  url: string;
  client_id: string;
  name: string;
  datasource: string;
  instance: string;
  format: string;
  remembered_at: number;
}

interface SettingsTable {
  name: string;
  value: string;
}

interface WatermarksTable {
  job: string;
  /** Hash of what is read, how it is shaped and where it goes. */
  reading: string;
  text: string;
  /** What `text` was before `run`; null when nothing was known. */
  before: string | null;
  run: string;
  set_at: number;
}

interface GenerationsTable {
  run: string;
  job: string;
  /** Hash of what is read: rows of another query are of no use. */
  reading: string;
  /** Hash of what is made of the rows, and where it goes. */
  shape: string;
  /** JSON: columns and files. */
  manifest: string;
  /** How far the source was read for it; null where it has no watermark. */
  watermark: string | null;
  /** The generation that was the present one then; null when there was none. */
  parent: string | null;
  made_at: number;
}

interface SetsTable {
  job: string;
  /** Whose generation is the present one. */
  run: string;
  /** The one before, in case the payload of `run` is never delivered. */
  before: string | null;
  /** 0: nobody knows whether the instance shows it. */
  shown: number;
  set_at: number;
}

interface BackfillsTable {
  job: string;
  reading: string;
  /** The range as a person wrote it: from `lower` on, up to but without `upper`, in steps of `chunk` (empty: at once). */
  lower: string;
  upper: string;
  chunk: string;
  /** What lies before this has been read. */
  reached: string;
  /** JSON: the files of it; null before the first. */
  staged: string | null;
  begun_at: number;
}

interface QuarantineTable {
  /** Of the payload in the outbox. */
  id: number;
  /** JSON: what each guard found. */
  findings: string;
  /** The payload that it was compared with; null when there was none. */
  last_run: string | null;
  last_rows: number | null;
  last_bytes: number | null;
  last_path: string | null;
  /** Where the watermark goes when the payload is approved; null where the source has none. */
  reading: string | null;
  watermark: string | null;
}

interface HoldsTable {
  job: string;
  since: number;
  who: string;
  why: string;
}

interface AuditTable {
  sequence: Generated<number>;
  at: number;
  who: string;
  why: string;
  action: AuditAction;
  job: string;
  run: string | null;
}

/** When the service was last asked what an account has used. */
interface UsageTable {
  account: string;
  asked_at: number;
  /** Why it will not tell us, where it will not. */
  refused: string | null;
}

/** Times in which a job ran less often than its schedule says. */
interface StretchesTable {
  sequence: Generated<number>;
  job: string;
  /** Every n-th firing runs; 0: none. */
  every: number;
  /** One sentence for people. */
  says: string;
  since: number;
  until: number;
  /** Null while it holds, at most to `until`. */
  ended_at: number | null;
}

/** What people decide about payloads and jobs. */
export type AuditAction = 'approve' | 'discard' | 'rollback' | 'resume' | 'send' | 'clear' | 'set' | 'backfill';

/** What is wrong now, or has just ceased to be: one row a subject and occasion. */
interface AlertsTable {
  /** `job:orders`, `account:…`, `login:…`, `destination:…`, `scheduler`. */
  subject: string;
  occasion: string;
  /** Those of one group are told together. */
  group_key: string;
  cause: string;
  level: number;
  /** The highest level that was told; 0: nobody has been told. */
  told: number;
  /** Since when it is so, as far as is known. */
  since: number;
  /** When it was first noticed. */
  opened_at: number;
  /** When it was noticed at its present level. */
  changed_at: number;
  /** When it was noticed that it is over, as long as that has not been told. */
  cleared_at: number | null;
  /** When somebody who knows the subject last looked. */
  seen_at: number;
  what: string;
  code: string | null;
}

interface AlertGroupsTable {
  group_key: string;
  told_at: number;
  /** How many times it was told without a calm in between. */
  step: number;
}

/** Jobs that have never published anything: since when that is known. */
interface AlertWatchesTable {
  job: string;
  since: number;
}

interface AlertMessagesTable {
  sequence: Generated<number>;
  /** The same for all channels that a message goes to, and for every attempt. */
  id: string;
  channel: string;
  title: string;
  /** JSON, redacted. */
  body: string;
  state: AlertMessageState;
  made_at: number;
  attempts: number;
  next_at: number;
  settled_at: number | null;
  problem: string | null;
}

export type AlertMessageState = 'waiting' | 'sent' | 'given_up';

export type AlertRow = Selectable<AlertsTable>;
export type AlertGroupRow = Selectable<AlertGroupsTable>;
export type AlertMessageRow = Selectable<AlertMessagesTable>;
export type GenerationRow = Selectable<GenerationsTable>;
export type QuarantineRow = Selectable<QuarantineTable>;
export type HoldRow = Selectable<HoldsTable>;
export type AuditRow = Selectable<AuditTable>;
export type WatermarkRow = Selectable<WatermarksTable>;
export type RunRow = Selectable<RunsTable>;
export type OutboxRow = Selectable<OutboxTable>;
export type Receipt = Selectable<ReceiptsTable>;
export type LoginRow = Selectable<LoginsTable>;
export type ScheduleRow = Selectable<SchedulesTable>;
export type SkipRow = Selectable<SkipsTable>;
export type AccountRow = Selectable<AccountsTable>;
export type UsageRow = Selectable<UsageTable>;
export type StretchRow = Selectable<StretchesTable>;
export type TargetRow = Selectable<TargetsTable>;
