import { subscribe } from 'node:diagnostics_channel';

/**
 * Kills this very process, as a power cut would, at the moment the event named by KILL_AT was emitted (the KILL_NTH
 * time). Events are emitted right after the durable step they name, synchronously, so the cut is exact.
 */
let left = Number(process.env.KILL_NTH ?? '1');

subscribe('sluice', (message) => {
  if ((message as { name: string }).name !== process.env.KILL_AT || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
});
