import { Problem } from '../../lib/problem.ts';
import type { Connector } from '../connector.ts';

interface RetiredService {
  readonly id: string;
  readonly title: string;
  /** What it was, one sentence. */
  readonly summary: string;
  /** Since when it is discontinued, and why; one sentence. */
  readonly gone: string;
  /** The alternatives; one sentence. */
  readonly instead: string;
}

/** A discontinued service: only its name exists, for a clear error in a config that uses it. */
export function defineRetiredService({ id, title, summary, gone, instead }: RetiredService): Connector {
  const refuse = () => {
    throw new Problem({
      code: 'SERVICE_RETIRED',
      family: 'config',
      message: `${title} is discontinued: ${gone.replace(/\.$/, '')}`,
      next: `${instead.charAt(0).toLowerCase()}${instead.slice(1).replace(/\.$/, '')}`,
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
    discover: async () => refuse(),
    extract: async () => refuse(),
  };
}
