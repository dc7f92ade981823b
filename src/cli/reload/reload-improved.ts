import { resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { prepareRecord, readRecord, recordOf, saveRecord } from '../../daemon/config/config-record.ts';
import { termsOf } from '../hand-over/config-terms.ts';
import type { Reloading } from './reloads.ts';

/**
 * Loads the unchanged config file again. Activates the result if it has fewer errors, because a file or command that a
 * variable needs is now available. Resolves to `not ours` if the file has changed or another config is active.
 */
export async function reloadImproved(
  { file, daemon, runtime, monitoring, syncs }: Reloading,
  signal: AbortSignal,
): Promise<'whole' | 'still faulty' | 'not ours'> {
  const { store } = runtime;
  const taken = await readRecord(store, store.processes.self);
  if (taken === undefined || taken.differs || taken.file !== resolve(file)) return 'not ours';
  if (taken.faults.length === 0) return 'whole';
  const note = await recordOf(file);
  const loaded = await loadConfig(file, { signal });
  const { config, problems } = loaded;
  if (signal.aborted || config === undefined || problems.length >= taken.faults.length) return 'still faulty';
  const ready = await prepareRecord(note, loaded);
  await monitoring.reload(async () => {
    await daemon.adopt(config, note.sha256);
    syncs?.adopt(termsOf(config, note, loaded));
    await saveRecord(ready, runtime);
  });
  return problems.length === 0 ? 'whole' : 'still faulty';
}
