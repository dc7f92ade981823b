import { startService } from '../../src/service/service.ts';
import { Database } from '../../src/service/store/database.ts';
import { FolderBlobs } from '../../src/service/uploads/folder-blobs.ts';

/**
 * A service in its own process, for tests that kill it. `arm` sets the step of the next upload at which it kills
 * itself: `commit` after the document was written and before it's in the database, `remove` after that and before the
 * old document is deleted.
 */
const [folder, fixtures] = process.argv.slice(2) as [string, string];
const service = await startService({ data: { folder }, fixtures, limits: false });

const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  // The signal arrives immediately; nothing after this line runs.
  for (;;);
};

process.on('message', (armed: 'commit' | 'remove') => {
  if (armed === 'commit') Database.prototype.durably = die;
  else FolderBlobs.prototype.remove = die;
  process.send?.('armed');
});
process.send?.(service.url);
