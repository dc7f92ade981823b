import type { Config } from '../../config/config.ts';
import { trySources } from '../checks/try-connections.ts';
import { composeRuntime } from '../compose.ts';
import { examineClocks } from './clocks.ts';
import { bad, type Finding, good } from './finding.ts';

/**
 * Tests the sources of all enabled jobs, and compares this machine's clock with the clock of each account's service. If
 * a source supports it, also reports permissions that the source's account has beyond reading.
 */
export async function examineConnections(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const runtime = await composeRuntime({ config });
  try {
    const [looks, clocks] = await Promise.all([
      trySources(config, runtime, signal),
      examineClocks(config, runtime, signal),
    ]);
    const sources = looks.map(({ name, message, problem }) =>
      problem === undefined
        ? good('source', `${name}: ${message}`)
        : bad('source', `${name}: ${problem.message}`, problem.next ?? 'for details, run "sluice check --connect"'),
    );
    return [...sources, ...clocks];
  } finally {
    await runtime.close();
  }
}
