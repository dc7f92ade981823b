import { newId } from '../../lib/ids.ts';
import { type Processes, systemProcesses } from './processes.ts';

/** Distinguishes processes with the same identity, such as two copies of one virtual machine's snapshot. */
const copy = newId();

/**
 * The processes of several machines that share a state on a server. Their clock is the server's, so times can be
 * compared while the server runs; `boot` returns a text that changes when it restarts. The process table of this
 * machine can prove that a process is dead, but not that it's alive: other machines can't see it, and would consider a
 * stopped process dead because it sends no heartbeats.
 */
export function serverProcesses(boot: () => string): Processes {
  const local = systemProcesses();
  const self = JSON.stringify([...(JSON.parse(local.self) as unknown[]), copy]);
  return {
    self,
    get boot() {
      return boot();
    },
    get bootedAt() {
      return Number(boot()) * 1000;
    },
    stateOf(owner) {
      if (owner === self) return 'alive';
      return local.stateOf(owner) === 'dead' ? 'dead' : 'unknown';
    },
    sharesBoot: () => true,
    // The work of a dead machine goes on within 15 s.
    heartbeats: { everyMs: 3_000, silenceMs: 12_000 },
  };
}
