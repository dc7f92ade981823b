import { rm } from 'node:fs/promises';
import type { Source } from '../../config/config.ts';
import type { Log } from '../../lib/log.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import type { LoginGuard } from '../../pipeline/source-reader-options.ts';
import type { Dataset } from '../../sdk/dataset.ts';
import type { TokenSource } from '../../sdk/oauth.ts';

export interface DiscoverSourceOptions {
  /** The base folder for relative paths. */
  readonly folder: string;
  /** A dataset name or a glob pattern. */
  readonly pattern?: string | undefined;
  readonly login?: TokenSource | undefined;
  /** Decides whether the source may log in. If absent, the source may always log in. */
  readonly guard?: LoginGuard;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Lists the datasets that a source offers. Throws a Problem if the source fails, or the signal's reason if aborted. */
export async function discoverSource(
  { name, connector, options: source }: Pick<Source, 'name' | 'connector' | 'options'>,
  { folder, pattern, login, guard = (_, open) => open({}), log, signal }: DiscoverSourceOptions,
): Promise<readonly Dataset[]> {
  if (connector.discover === undefined) throw unsupported(connector.id).at({ source: name });
  const scratch = await makeTempFolder(`discover-${process.pid}`);
  const context = { source, folder, scratch, log, signal, ...(pattern === undefined ? {} : { pattern }) };
  try {
    return await guard({ signal, login }, (logIn) => connector.discover!({ ...context, ...logIn }));
  } catch (thrown) {
    signal.throwIfAborted();
    throw toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' }).at({ source: name });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function unsupported(id: string): Problem {
  return new Problem({
    code: 'DISCOVER_UNSUPPORTED',
    family: 'config',
    message: `The ${id} connector can't list the datasets of a source`,
    next: `sluice connectors describe ${id}`,
  });
}
