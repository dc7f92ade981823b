import { loadConfig } from '../src/config/load.ts';
import { composeRuntime } from '../src/daemon/compose.ts';
import { syncJobs } from '../src/daemon/run/sync-jobs.ts';

/**
 * A long-running process like the daemon. It is `fork`ed with a config and a job, and runs the job once per message. It
 * returns the run's cost from extract to receipt, without process start.
 */
const [file, name] = process.argv.slice(2);
const { config } = await loadConfig(file!);
const job = config?.jobs.get(name!);
if (config === undefined || job === undefined) throw new Error(`no job ${name} in ${file}`);
const runtime = await composeRuntime({ config });
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
