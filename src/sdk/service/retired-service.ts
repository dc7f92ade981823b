import { Problem } from '../../lib/problem.ts';
import type { Connector } from '../connector.ts';

interface RetiredService {
  readonly id: string;
  readonly title: string;
  /** What it was, one sentence. */
  readonly summary: string;
  /** Since when it is gone, and why; one sentence. */
  readonly gone: string;
  /** What people use instead; one sentence. */
  readonly instead: string;
}

/** A service that was shut down: known by its name, so that a config that uses it gets a clear error. */
export function defineRetiredService({ id, title, summary, gone, instead }: RetiredService): Connector {
  const refuse = () => {
    throw new Problem({
      code: 'SERVICE_RETIRED',
      family: 'config',
      message: `${title} is discontinued: ${gone.replace(/\.$/, '')}`,
      next: instead.replace(/\.$/, ''),
    });
  };
  return {
    id,
    title,
    summary,
    retired: `${gone} ${instead}`,
    source: {},
    query: {},
    check: async () => refuse(),
    extract: async () => refuse(),
  };
}
