import type { OutboxRow } from '../state/tables.ts';
import type { PayloadFacts } from './events.ts';

/** A payload's fields in events. */
export function factsOf(row: OutboxRow): PayloadFacts {
  const { id, job, run, destination, instance, sha256, bytes, row_count } = row;
  return { id, job, run, destination, instance, sha256, bytes, rows: row_count };
}
