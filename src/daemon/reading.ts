import { createHash } from 'node:crypto';
import type { Job } from '../config/config.ts';

/**
 * What a job reads, how it shapes it and where it puts it, as a hash. A watermark counts only for the very same: another
 * query has not been read yet, and another instance does not hold what was delivered before. Secrets do not count, so that
 * a new password is no new beginning; neither do schedule and limits. For a job that keeps its rows, only what says which
 * rows those are counts: what is made of them is made of all of them, every time.
 */
export function readingOf(job: Job): string {
  const { extract } = job;
  const { write } = extract ?? {};
  const read = {
    connector: extract?.source.connector.id,
    source: extract === undefined ? undefined : plainOptions(extract.source),
    query: extract?.query,
  };
  if (write === undefined) return hashOf({ ...read, ...shapeOf(job) });
  const { disposition, key, deleted } = write;
  return hashOf({ ...read, write: { disposition, key, deleted } });
}

/** What a job makes of its rows and where it puts them, as a hash: when it changes, all rows that it keeps are sent anew. */
export function shapeHashOf(job: Pick<Job, 'extract' | 'target' | 'destination'>): string {
  return hashOf({ ...shapeOf(job), retain: job.extract?.write?.retain });
}

function shapeOf({ extract, target, destination }: Pick<Job, 'extract' | 'target' | 'destination'>): object {
  return {
    transforms: extract?.transforms.map(({ transform, given }) => [transform.id, given]),
    format: [extract?.format.id, extract?.formatOptions],
    target: target.kind === 'datasource' ? { ...target, declaration: target.declaration.name } : target,
    destination: [destination.url, destination.clientId],
  };
}

function hashOf(said: object): string {
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

function plainOptions({ connector, options }: NonNullable<Job['extract']>['source']): object {
  const plain = Object.entries(options).filter(([name]) => connector.source[name]?.secret !== true);
  return Object.fromEntries(plain);
}
