import { loadConfig } from '../src/config/load.ts';
import { syncJobs } from '../src/daemon/sync-jobs.ts';
import { wire } from '../src/daemon/wire.ts';

/**
 * A process that stays, as the daemon does: `fork`ed with a config and a job, it runs the job once for every message and
 * answers with what that run cost: the same road as `sluice sync`, from extract to receipt, less the start of a process.
 */
const [file, name] = process.argv.slice(2);
const { config } = await loadConfig(file!);
const job = config?.jobs.get(name!);
if (config === undefined || job === undefined) throw new Error(`no job ${name} in ${file}`);
const runtime = await wire({ config });
const { signal } = new AbortController();

process.on('message', async () => {
  const before = process.cpuUsage();
  const began = process.hrtime.bigint();
  const [outcome] = await syncJobs({ runtime, config, jobs: [job], signal, patienceMs: 60_000 });
  const wall = Number(process.hrtime.bigint() - began) / 1e9;
  const { user, system } = process.cpuUsage(before);
  const peakMb = process.resourceUsage().maxRSS / 1024;
  process.send?.({ wall, cpu: (user + system) / 1e6, peakMb, said: outcome?.state ?? '' });
});
process.on('disconnect', () => void runtime.close());
process.send?.('ready');
