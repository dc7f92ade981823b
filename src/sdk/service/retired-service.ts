import { Problem } from '../../lib/problem.ts';
import type { Connector } from '../connector.ts';

interface RetiredService {
  readonly id: string;
  readonly title: string;
  /** What it was, one sentence. */
  readonly summary: string;
  /** When and why the service was discontinued, in one sentence. */
  readonly gone: string;
  /** The alternatives, in one sentence. */
  readonly instead: string;
}

/** Declares a discontinued service. Its name remains, so that a config that uses it causes a clear error. */
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
