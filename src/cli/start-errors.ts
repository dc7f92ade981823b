import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { Runtime } from '../daemon/wire.ts';
import { exponentialMs } from '../lib/backoff.ts';
import { countOf } from '../lib/count-text.ts';
import { Problem } from '../lib/problem.ts';
import { showProblems } from './config-file.ts';
import type { Reloading, Reloads } from './reloads.ts';

const pauses = { firstMs: 1000, maxMs: 10 * 60_000 };

/** Throws where a start is to fail for the faults of a config; they have been shown. */
export function refuseFaults({ onStartError, file }: Config, problems: readonly Problem[]): void {
  if (onStartError !== 'fail' || problems.length === 0) return;
  throw new Problem({
    code: 'START_FAULTS',
    family: 'config',
    message: `The config has ${countOf(problems.length, 'fault')}, and is to be in force as a whole or not at all; nothing was started`,
    where: { file },
    next: 'mend them, or let the jobs without a fault run: on_start_error: ignore',
  });
}

/** Throws where a start is to fail for sources that do not answer, or whose login has no token. */
export async function refuseSilence(config: Config, runtime: Runtime, signal: AbortSignal): Promise<void> {
  if (config.onStartError !== 'fail') return;
  const { trySources } = await import('../daemon/try-connections.ts');
  const looks = await trySources(config, runtime, signal);
  const problems = looks.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  if (problems.length === 0) return;
  showProblems(problems);
  throw new Problem({
    code: 'START_SILENCE',
    family: 'job',
    message: `${countOf(problems.length, 'source does', 'sources do')} not answer, and each is to; nothing was started`,
    where: { file: config.file },
    next: 'mend them and start again, or begin all the same: on_start_error: ignore, or probe',
  });
}

/**
 * Reads the variables of the config again, at growing intervals, until nothing of it is left out any more or somebody has put
 * another text in force; takes each better reading of the same text.
 */
export async function retryFaults(given: Reloading, reloads: Reloads, signal: AbortSignal): Promise<void> {
  const { takeBetter } = await import('./take-better.ts');
  let isOver = false;
  for (let tries = 0; !isOver && !signal.aborted; tries++) {
    await pause(exponentialMs(tries, pauses), undefined, { signal, ref: false }).catch(() => undefined);
    await reloads.between(async () => {
      const came = await takeBetter(given, signal).catch((error: unknown) => {
        given.log.error('the config could not be read again', { error: String(error) });
        return 'still faulty' as const;
      });
      isOver = came !== 'still faulty';
    });
  }
}
