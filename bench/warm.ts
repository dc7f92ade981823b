import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Cost } from './measure.ts';

/** A job in a long-running process. The first run is a warm-up, and its cost isn't counted. */
export interface Warm {
  run(): Promise<Cost>;
  stop(): void;
}

export async function startWarm(config: string, job: string): Promise<Warm> {
  const script = new URL('warm-worker.ts', import.meta.url).pathname;
  const child = fork(script, [config, job], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await answerOf(child);
  const run = async (): Promise<Cost> => {
    child.send('run');
    const cost = (await answerOf(child)) as Cost;
    if (!['delivered', 'unchanged'].includes(cost.said)) throw new Error(`${job}: ${cost.said}`);
    return cost;
  };
  await run();
  return { run, stop: () => child.disconnect() };
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the warm process ended with ${code}`);
  });
  const [answer] = (await Promise.race([once(child, 'message'), gone])) as [unknown];
  return answer;
}
