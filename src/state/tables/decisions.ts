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
  /** The old watermark, if the decision changed a checkpoint. */
  former: string | null;
  /** The new watermark, if the decision changed a checkpoint. */
  latter: string | null;
}

/** The decisions that users can make about payloads and jobs. */
export type AuditAction = 'approve' | 'discard' | 'rollback' | 'resume' | 'send' | 'clear' | 'set' | 'backfill';
