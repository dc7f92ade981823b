import { createHash } from 'node:crypto';
import type { Job } from '../../config/config.ts';
import type { TargetAddress } from '../../delivery/address.ts';

/** The job's target. Undefined if it's a declared data source that hasn't been created yet. */
type Address = TargetAddress | undefined;

/**
 * Hash of a job's query, transforms, format and target. A watermark is valid only for the same fingerprint: a changed
 * query must be read from the start, and another instance doesn't have the earlier data, even if it belongs to a data
 * source that was recreated under the same name. The hash excludes secrets, the schedule and limits, so that a new
 * password doesn't reset the checkpoint. If the job keeps its rows, the hash includes only the options that determine
 * the kept rows, because every run transforms all of them.
 */
export function queryFingerprint(job: Job, address: Address): string {
  const { extract } = job;
  const { write } = extract ?? {};
  const read = {
    connector: extract?.source.connector.id,
    source: extract === undefined ? undefined : plainOptions(extract.source),
    query: extract === undefined ? undefined : rowOptions(extract),
  };
  if (write === undefined) return hashOf({ ...read, ...shapeOf(job, address) });
  const { disposition, key, deleted } = write;
  return hashOf({ ...read, write: { disposition, key, deleted } });
}

/** Hash of a job's transforms, format and target. If the hash changes, all kept rows are sent again. */
export function outputFingerprint(job: Pick<Job, 'extract' | 'target' | 'destination'>, address: Address): string {
  return hashOf({ ...shapeOf(job, address), retain: job.extract?.write?.retain });
}

function shapeOf(
  { extract, target, destination }: Pick<Job, 'extract' | 'target' | 'destination'>,
  address: Address,
): object {
  return {
    transforms: extract?.transforms.map(({ transform, given }) => [transform.id, given]),
    format: [extract?.format.id, extract?.formatOptions],
    target: target.kind === 'datasource' ? { name: target.declaration.name, instance: address?.instance } : target,
    destination: [destination.url, destination.clientId],
  };
}

function hashOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function rowOptions({ source: { connector }, query }: NonNullable<Job['extract']>): object {
  const read = Object.entries(query).filter(([name]) => connector.query[name]?.changesRows !== false);
  return Object.fromEntries(read);
}

function plainOptions({ connector, options }: NonNullable<Job['extract']>['source']): object {
  const plain = Object.entries(options).filter(([name]) => connector.source[name]?.secret !== true);
  return Object.fromEntries(plain);
}
