import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import { exponentialMs } from '../../lib/backoff.ts';
import { countOf } from '../../lib/count-text.ts';
import { Problem } from '../../lib/problem.ts';
import { showProblems } from '../config-file.ts';
import type { Reloading, Reloads } from '../reload/reloads.ts';

const pauses = { firstMs: 1000, maxMs: 10 * 60_000 };

/** Throws if the config's errors must prevent the daemon from starting. The errors must already have been shown. */
export function failOnConfigErrors({ onStartError, file }: Config, problems: readonly Problem[]): void {
  if (onStartError !== 'fail' || problems.length === 0) return;
  throw new Problem({
    code: 'START_FAULTS',
    family: 'config',
    message: `Not started: the config has ${countOf(problems.length, 'error')} and on_start_error is fail`,
    where: { file },
    next: 'fix the errors, or set on_start_error: ignore to run the other jobs',
  });
}

/** Throws if an unresponsive source or a login without a token must prevent the daemon from starting. */
export async function failOnSilentSources(config: Config, runtime: Runtime, signal: AbortSignal): Promise<void> {
  if (config.onStartError !== 'fail') return;
  const { trySources } = await import('../../daemon/checks/try-connections.ts');
  const looks = await trySources(config, runtime, signal);
  const problems = looks.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  if (problems.length === 0) return;
  showProblems(problems);
  throw new Problem({
    code: 'START_SILENCE',
    family: 'job',
    message: `Not started: ${countOf(problems.length, 'source does', 'sources do')} not respond and on_start_error is fail`,
    where: { file: config.file },
    next: 'fix the sources and start again, or set on_start_error: ignore or probe to start anyway',
  });
}

/**
 * Rereads the config's variables with exponential backoff until all jobs can run or a reload activates another config.
 * Whenever the unchanged file loads with fewer errors, activates the result.
 */
export async function retryConfig(given: Reloading, reloads: Reloads, signal: AbortSignal): Promise<void> {
  const { reloadImproved } = await import('../reload/reload-improved.ts');
  let isOver = false;
  for (let tries = 0; !isOver && !signal.aborted; tries++) {
    await pause(exponentialMs(tries, pauses), undefined, { signal, ref: false }).catch(() => undefined);
    await reloads.between(async () => {
      const came = await reloadImproved(given, signal).catch((error: unknown) => {
        given.log.error('failed to reload the config', { error: String(error) });
        return 'still faulty' as const;
      });
      isOver = came !== 'still faulty';
    });
  }
}
