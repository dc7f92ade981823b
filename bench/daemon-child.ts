import { simulatedNetwork } from '../src/cli/simulate/network.ts';
import { virtualTick } from '../src/cli/simulate/virtual-tick.ts';
import { loadConfig } from '../src/config/load.ts';
import { composeRuntime } from '../src/daemon/compose.ts';
import { Daemon } from '../src/daemon/daemon.ts';
import { VirtualClock } from '../src/lib/virtual-clock.ts';
import { createTimer } from '../src/schedule/timer.ts';
import { heldBytes } from '../src/sdk/testing/memory.ts';

/**
 * Runs the daemon for several simulated hours against a service in another process. Prints the daemon's memory use
 * after the first hour, when all code is loaded and compiled, and after the last hour.
 */
const [file = '', hours = '24'] = process.argv.slice(2);
const hourMs = 3_600_000;
const clock = new VirtualClock(Date.UTC(2026, 5, 15, 4));

async function held(): Promise<{ heldMb: number; residentMb: number }> {
  const bytes = await heldBytes();
  return { heldMb: bytes / 1e6, residentMb: process.memoryUsage.rss() / 2 ** 20 };
}

async function live(milliseconds: number): Promise<void> {
  await clock.drive(clock.sleep(milliseconds));
}

const { config, problems } = await loadConfig(file);
if (config === undefined || problems.length > 0) throw problems[0] ?? new Error('no config');
const runtime = await composeRuntime({ config, clock, network: simulatedNetwork({ clock, seed: 0 }), durable: false });
const daemon = new Daemon({ runtime, config, timer: createTimer(clock, virtualTick(clock)) });
let runs = 0;
runtime.events.listen((...[name]) => {
  if (name === 'run.finished') runs += 1;
});
await clock.drive(daemon.start());
await live(hourMs);
const first = await held();
await live(Number(hours) * hourMs - hourMs);
const last = await held();
await clock.drive(daemon.stop('over'));
await runtime.close();
process.stdout.write(`${JSON.stringify({ first, last, runs })}\n`);
