export { type Healed, heal } from './heal.ts';
export type { Lease } from './leases.ts';
export { dueAt, keyOf, type Owed, type Owing } from './outbox.ts';
export { type Processes, pidOf, systemProcesses } from './processes.ts';
export type { InstanceKey } from './receipts.ts';
export type { NoTicket, Ticket } from './sends.ts';
export { openStore, type Parts, type Store } from './store.ts';
export type { OutboxRow, OutboxState, Receipt, RunRow, RunState, ScheduleRow, TargetRow } from './tables.ts';
