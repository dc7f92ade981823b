import { subscribe } from 'node:diagnostics_channel';

/** After the event FALL_AT, throws an uncaught error with SPILT in its message and fields. */
const { FALL_AT, SPILT } = process.env;

subscribe('sluice', (message) => {
  if ((message as { name: string }).name !== FALL_AT) return;
  setImmediate(() => {
    const fault = new Error(`lost ${SPILT} on the way`, { cause: new Error(`because of ${SPILT}`) });
    throw Object.assign(fault, { config: { password: SPILT, bytes: Buffer.from(SPILT!) } });
  });
});
