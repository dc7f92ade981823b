import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import type { Store } from '../../state/store.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { openExistingStore } from '../open-existing-store.ts';
import { sanitizeOutput } from '../sanitize-output.ts';

/** What every command about payloads takes. */
export interface Flags {
  readonly config: string;
  readonly json?: true;
  readonly why?: string;
}

/** Opens the config and all that sends, for a decision that changes something; closes it whatever happens. */
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

/** Opens the state to look into it; undefined where there is none yet. */
export async function withStore<T>(
  flags: Flags,
  work: (store: Store | undefined, config: Config) => Promise<T>,
): Promise<T> {
  const { config, problems } = await openConfig(flags.config);
  showProblems(problems);
  const store = await openExistingStore(config);
  try {
    return await work(store, config);
  } finally {
    await store?.close();
  }
}

/** Prints for people or for machines, secrets out. */
export function show({ json }: Pick<Flags, 'json'>, { text, data }: { text: string; data: unknown }): void {
  process.stdout.write(`${sanitizeOutput(json === true ? JSON.stringify(data, undefined, 2) : text)}\n`);
}

/** The exit code for what became of a payload that a person let go. */
export function exitFor(state: string): number {
  if (state === 'waiting_quota') return exit.waiting;
  if (state === 'waiting_login') return exit.refused;
  return ['delivered', 'unchanged', 'superseded'].includes(state) ? exit.ok : exit.failed;
}
