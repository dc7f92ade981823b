import { build, commitText } from '../../lib/build.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';

/** Name of the process's setting. */
const settingName = 'process';

/** What a process records about itself, for the processes on other machines that share its state. */
export interface ProcessRecord {
  readonly version: string;
  readonly commit: string;
  /** When the process started, in epoch milliseconds. */
  readonly since: number;
}

/** Records that this process exists. Its heartbeats show that it's alive. */
export async function saveProcess({ store, clock }: { readonly store: Store; readonly clock: Clock }): Promise<void> {
  const record: ProcessRecord = { version: build.version, commit: commitText, since: clock.now() };
  await store.settle('process', async ({ heartbeats, processSettings }) => {
    await heartbeats.beat();
    await processSettings.set(settingName, JSON.stringify(record));
  });
}

/** Returns the records of all live processes. A state in a folder has none. */
export async function readProcesses(store: Store): Promise<readonly (ProcessRecord & { readonly owner: string })[]> {
  const records = await store.processSettings.all(settingName);
  return records.map(({ owner, value }) => ({ owner, ...(JSON.parse(value) as ProcessRecord) }));
}
