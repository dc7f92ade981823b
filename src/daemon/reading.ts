import { createHash } from 'node:crypto';
import type { Job } from '../config/config.ts';

/**
 * What a job reads, how it shapes it and where it puts it, as a hash. A watermark counts only for the very same: another
 * query has not been read yet, and another instance does not hold what was delivered before. Secrets do not count, so that
 * a new password is no new beginning; neither do schedule and limits.
 */
export function readingOf({ extract, target, destination }: Job): string {
  const said = {
    connector: extract?.source.connector.id,
    source: extract === undefined ? undefined : plainOptions(extract.source),
    query: extract?.query,
    transforms: extract?.transforms.map(({ transform, given }) => [transform.id, given]),
    format: [extract?.format.id, extract?.formatOptions],
    target: target.kind === 'datasource' ? { ...target, declaration: target.declaration.name } : target,
    destination: [destination.url, destination.clientId],
  };
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

function plainOptions({ connector, options }: NonNullable<Job['extract']>['source']): object {
  const plain = Object.entries(options).filter(([name]) => connector.source[name]?.secret !== true);
  return Object.fromEntries(plain);
}
