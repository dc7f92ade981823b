import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import type { Problem } from '../../lib/problem.ts';
import { openExistingStore } from '../../state/open-existing-store.ts';
import type { Store } from '../../state/store.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';

/** The flags that all payload commands share. */
export interface Flags {
  readonly config: string;
  readonly json?: true;
  readonly why?: string;
}

/**
 * Opens the config and everything needed to send data, so that a decision takes effect immediately. Always closes
 * everything it opened.
 */
export async function withRuntime<T>(flags: Flags, work: (runtime: Runtime, config: Config) => Promise<T>): Promise<T> {
  const { config, problems } = await openConfig(flags.config);
  showProblems(problems);
  const { composeRuntime } = await import('../../daemon/compose.ts');
  const runtime = await composeRuntime({ config });
  try {
    return await work(runtime, config);
  } finally {
    await runtime.close();
  }
}

/** Opens the state for reading; undefined if no state exists yet. `work` also gets the config's errors. */
export async function withStore<T>(
  flags: Flags,
  work: (store: Store | undefined, config: Config, problems: readonly Problem[]) => Promise<T>,
): Promise<T> {
  const { config, problems } = await openConfig(flags.config);
  showProblems(problems);
  const store = await openExistingStore(config);
  try {
    return await work(store, config, problems);
  } finally {
    await store?.close();
  }
}

/** Prints output as text or as JSON, with secrets redacted. */
export function show({ json }: Pick<Flags, 'json'>, { text, data }: { text: string; data: unknown }): void {
  process.stdout.write(`${sanitizeOutput(json === true ? JSON.stringify(data, undefined, 2) : text)}\n`);
}

/** The exit code for a released payload, depending on its state. */
export function exitFor(state: string): number {
  if (state === 'waiting_quota') return exit.waiting;
  if (state === 'waiting_login') return exit.refused;
  return ['delivered', 'unchanged', 'superseded'].includes(state) ? exit.ok : exit.failed;
}
