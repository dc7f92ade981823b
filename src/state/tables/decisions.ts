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
  /** Of a decision that changed a value: how far the job had read, and from where it goes on. */
  former: string | null;
  latter: string | null;
}

/** What people decide about payloads and jobs. */
export type AuditAction = 'approve' | 'discard' | 'rollback' | 'resume' | 'send' | 'clear' | 'set' | 'backfill';
