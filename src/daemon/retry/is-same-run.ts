import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../config/config.ts';

/**
 * Whether a job's run would read the same data under both configs. If the query, source or secret has changed, a run
 * that failed may now succeed.
 */
export function isSameRun(former: Job, job: Job): boolean {
  return isDeepStrictEqual(whatItReads(former), whatItReads(job));
}

function whatItReads({ extract }: Job): unknown {
  if (extract === undefined) return undefined;
  const { source, query, transforms, formatOptions, stallTimeoutMs } = extract;
  const steps = transforms.map(({ given }) => given);
  const { options, login, connector } = source;
  return { connector: connector.id, options, login, query, steps, formatOptions, stallTimeoutMs };
}
