import { subscribe } from 'node:diagnostics_channel';

/** Throws an uncaught error with SPILT in its message and fields, after the event FALL_AT. */
const { FALL_AT, SPILT } = process.env;

subscribe('sluice', (message) => {
  if ((message as { name: string }).name !== FALL_AT) return;
  setImmediate(() => {
    const fault = new Error(`lost ${SPILT} on the way`, { cause: new Error(`because of ${SPILT}`) });
    throw Object.assign(fault, { config: { password: SPILT, bytes: Buffer.from(SPILT!) } });
  });
});
