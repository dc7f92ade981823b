import { toProblem } from '../../lib/problem.ts';
import type { ServerLocation } from '../../state/engine/state-database.ts';
import { bad, type Finding, good } from './finding.ts';

const check = 'payloads storage';

/** Reports whether payloads can be written, read and removed, if they aren't in the state's database. */
export async function examineStorage(location: ServerLocation): Promise<Finding[]> {
  const [{ openExistingStore }, { testStorage }] = await Promise.all([
    import('../../state/open-existing-store.ts'),
    import('../../state/blobs/test-storage.ts'),
  ]);
  // If the server can't be reached, another finding says so.
  const store = await openExistingStore(location).catch(() => undefined);
  try {
    const { backend } = store?.blobs ?? {};
    if (backend === undefined || backend.storage.isInDatabase) return [];
    const milliseconds = await testStorage(backend);
    return [good(check, `${backend.storage.label}: written, read and deleted in ${Math.round(milliseconds)} ms`)];
  } catch (thrown) {
    const { message, next } = toProblem(thrown, { code: 'PAYLOADS_UNREACHABLE', family: 'try_later' });
    return [bad(check, message, next ?? 'check "payloads" in the config')];
  } finally {
    await store?.close();
  }
}
