import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../config/config.ts';

/**
 * Whether a run of the job would do the same under both configs. A failed run may succeed with another query, source or
 * secret.
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
