import type { Generated } from 'kysely';

export interface HoldsTable {
  job: string;
  since: number;
  who: string;
  why: string;
}

export interface AuditTable {
  sequence: Generated<number>;
  at: number;
  who: string;
  why: string;
  action: AuditAction;
  job: string;
  run: string | null;
  /** For a decision that changed a checkpoint: the old watermark and the new one. */
  former: string | null;
  latter: string | null;
}

/** Decisions that users make about payloads and jobs. */
export type AuditAction = 'approve' | 'discard' | 'rollback' | 'resume' | 'send' | 'clear' | 'set' | 'backfill';
