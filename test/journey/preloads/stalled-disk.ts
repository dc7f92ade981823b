import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { aroundDurable } from './durable.ts';

/** Where the file `stall` is there, the disk below DISK_UNDER does not answer once something becomes owed. */
const folder = process.env.DISK_UNDER ?? '/nowhere';
const stall = join(folder, '../stall');

aroundDurable(folder, ({ what, on }, go, given) => {
  const isStalled = what !== 'commit' && on === 'insert into outbox' && existsSync(stall);
  if (isStalled) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return go(...given);
});
