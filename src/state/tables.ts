import type { Selectable } from 'kysely';
import type { AlertGroupsTable, AlertMessagesTable, AlertsTable, AlertWatchesTable } from './tables/alerts.ts';
import type { BlobPiecesTable, BlobsTable } from './tables/blobs.ts';
import type {
  AccountsTable,
  QuotaTable,
  SendSlotsTable,
  ThrottledJobsTable,
  UsageChecksTable,
} from './tables/budget.ts';
import type {
  BackfillsTable,
  CurrentGenerationsTable,
  GenerationsTable,
  WatermarksTable,
} from './tables/checkpoints.ts';
import type { AuditTable, HoldsTable } from './tables/decisions.ts';
import type { FleetRunsTable } from './tables/fleet.ts';
import type { LoginHoldsTable, LoginsTable } from './tables/logins.ts';
import type { OutboxTable, QuarantineTable, ReceiptsTable, TargetsTable } from './tables/outbox.ts';
import type { HeartbeatsTable, LeasesTable } from './tables/processes.ts';
import type { RetriesTable, RunsTable } from './tables/runs.ts';
import type { DeferredFiringsTable, SchedulesTable, SkipsTable } from './tables/schedules.ts';

export type { AuditAction } from './tables/decisions.ts';
export type { OutboxState } from './tables/outbox.ts';
export type { RunState } from './tables/runs.ts';

/** The tables after the newest migration. Times are in epoch milliseconds, and flags are 0 or 1. */
export interface Tables {
  migrations: MigrationsTable;
  heartbeats: HeartbeatsTable;
  runs: RunsTable;
  retries: RetriesTable;
  outbox: OutboxTable;
  receipts: ReceiptsTable;
  quota: QuotaTable;
  send_slots: SendSlotsTable;
  accounts: AccountsTable;
  leases: LeasesTable;
  logins: LoginsTable;
  login_holds: LoginHoldsTable;
  schedules: SchedulesTable;
  deferred_firings: DeferredFiringsTable;
  fleet_runs: FleetRunsTable;
  skips: SkipsTable;
  targets: TargetsTable;
  settings: SettingsTable;
  watermarks: WatermarksTable;
  generations: GenerationsTable;
  current_generations: CurrentGenerationsTable;
  backfills: BackfillsTable;
  quarantine: QuarantineTable;
  holds: HoldsTable;
  audit: AuditTable;
  usage_checks: UsageChecksTable;
  throttled_jobs: ThrottledJobsTable;
  alerts: AlertsTable;
  alert_groups: AlertGroupsTable;
  alert_watches: AlertWatchesTable;
  alert_messages: AlertMessagesTable;
  blobs: BlobsTable;
  blob_pieces: BlobPiecesTable;
}

interface MigrationsTable {
  number: number;
  name: string;
  at: number;
}

interface SettingsTable {
  name: string;
  value: string;
}

export type AlertRow = Selectable<AlertsTable>;
export type AlertGroupRow = Selectable<AlertGroupsTable>;
export type AlertMessageRow = Selectable<AlertMessagesTable>;
export type GenerationRow = Selectable<GenerationsTable>;
export type QuarantineRow = Selectable<QuarantineTable>;
export type HoldRow = Selectable<HoldsTable>;
export type AuditRow = Selectable<AuditTable>;
export type WatermarkRow = Selectable<WatermarksTable>;
export type RunRow = Selectable<RunsTable>;
export type RetryRow = Selectable<RetriesTable>;
export type OutboxRow = Selectable<OutboxTable>;
export type Receipt = Selectable<ReceiptsTable>;
export type LoginHoldRow = Selectable<LoginHoldsTable>;
export type LoginRow = Selectable<LoginsTable>;
export type ScheduleRow = Selectable<SchedulesTable>;
export type DeferredFiringRow = Selectable<DeferredFiringsTable>;
export type FleetRunRow = Selectable<FleetRunsTable>;
export type SkipRow = Selectable<SkipsTable>;
export type AccountRow = Selectable<AccountsTable>;
export type UsageRow = Selectable<UsageChecksTable>;
export type ThrottledJobRow = Selectable<ThrottledJobsTable>;
export type TargetRow = Selectable<TargetsTable>;
