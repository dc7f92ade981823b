import { subscribe } from 'node:diagnostics_channel';

/**
 * Kills this process, as a power failure would, when the event named by KILL_AT is emitted (the KILL_NTH time). Events
 * are emitted synchronously, right after the durable step that they name, so the kill is exact.
 */
let left = Number(process.env.KILL_NTH ?? '1');

subscribe('sluice', (message) => {
  if ((message as { name: string }).name !== process.env.KILL_AT || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
});
