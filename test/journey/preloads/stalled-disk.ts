import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { aroundDurable } from './durable.ts';

/** If the file `stall` exists, the disk below DISK_UNDER hangs as soon as something becomes owed. */
const folder = process.env.DISK_UNDER ?? '/nowhere';
const stall = join(folder, '../stall');

aroundDurable(folder, ({ what, on }, go, given) => {
  const isStalled = what !== 'commit' && on === 'insert into outbox' && existsSync(stall);
  if (isStalled) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return go(...given);
});
