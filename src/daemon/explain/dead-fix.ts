import type { Job } from '../../config/config.ts';
import type { OutboxRow } from '../../state/tables.ts';

/** Advises how to fix a rejected payload. If the target doesn't exist, sending the payload again can't help. */
export function deadFix({ code, run }: OutboxRow, { name, target }: Job): string {
  if (code !== 'DELIVERY_NOT_FOUND') return `fix the cause; then sluice dead send ${run}`;
  return target.kind === 'datasource'
    ? `recreate the data source with "sluice apply --yes"; then sluice sync ${name}`
    : `set the job's target to the ID of an existing instance; then sluice sync ${name}`;
}
