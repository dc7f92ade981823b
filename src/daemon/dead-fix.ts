import type { Job } from '../config/config.ts';
import type { OutboxRow } from '../state/tables.ts';

/** What helps a payload that the service refuses. A target that does not exist takes no payload, however often it is sent. */
export function deadFix({ code, run }: OutboxRow, { name, target }: Job): string {
  if (code !== 'DELIVERY_NOT_FOUND') return `sluice dead send ${run}, once the cause is fixed`;
  return target.kind === 'datasource'
    ? `sluice apply --yes creates the data source again; then sluice sync ${name}`
    : `write the id of an existing instance into the target of the job; then sluice sync ${name}`;
}
