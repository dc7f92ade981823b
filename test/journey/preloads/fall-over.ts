import { subscribe } from 'node:diagnostics_channel';

/** Has the process fall over a fault that nobody catches, with SPILT in its words and members, once FALL_AT has been said. */
const { FALL_AT, SPILT } = process.env;

subscribe('sluice', (message) => {
  if ((message as { name: string }).name !== FALL_AT) return;
  setImmediate(() => {
    const fault = new Error(`lost ${SPILT} on the way`, { cause: new Error(`because of ${SPILT}`) });
    throw Object.assign(fault, { config: { password: SPILT, bytes: Buffer.from(SPILT!) } });
  });
});
