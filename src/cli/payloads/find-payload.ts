import { Problem } from '../../lib/problem.ts';
import type { OutboxRow } from '../../state/tables.ts';

/**
 * Returns the waiting payload with this job name or run ID. Throws `PAYLOAD_UNKNOWN` if there is none, or
 * `PAYLOAD_AMBIGUOUS` if several payloads of the job are waiting.
 */
export function findPayload<R extends OutboxRow>(waiting: readonly R[], ref: string, noun: 'quarantined' | 'dead'): R {
  const found = waiting.filter(({ job, run }) => job === ref || run === ref);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const command = noun === 'dead' ? 'dead' : 'quarantine';
  if (only === undefined) {
    throw new Problem({
      code: 'PAYLOAD_UNKNOWN',
      family: 'config',
      message: `No ${noun} payload for "${ref}"`,
      allowed: waiting.map(({ job, run }) => `${job} (${run})`).join(', ') || `none: nothing is ${noun}`,
      next: `sluice ${command} list`,
    });
  }
  throw new Problem({
    code: 'PAYLOAD_AMBIGUOUS',
    family: 'config',
    message: `Job ${ref} has several ${noun} payloads: specify the run`,
    allowed: found.map(({ run, instance }) => `${run} (instance ${instance})`).join(', '),
    next: `sluice ${command} list`,
  });
}
