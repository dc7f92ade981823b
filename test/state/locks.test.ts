import { afterEach, describe, expect, it } from 'vitest';
import { accountLock, jobLock } from '../../src/state/engine/lock-keys.ts';
import { noon } from '../clocks.ts';
import { isOnServer } from './engines.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

const by = { who: 'a person', why: '' };

describe('a transaction', () => {
  it('that has locked a key cannot use another one', async () => {
    const store = await newStore({});
    const other = store.transactionOn([accountLock('a')], ({ quota }) => quota.take('b', ['2026-06-15'], 1));
    await expect(other).rejects.toThrow('has not locked account:b');
    expect(await store.quota.use('b', '2026-06-15')).toMatchObject({ used: 0 });
  });

  it('that has locked a key cannot do what needs the whole state', async () => {
    const store = await newStore({});
    const all = store.transactionOn([jobLock('a')], ({ holds }) => holds.set('a', by));
    await expect(all).rejects.toThrow('has not locked the whole state');
    expect(await store.holds.find('a')).toBeUndefined();
  });

  it('can use all keys that it has locked, and any key if it has locked the whole state', async () => {
    const store = await newStore({});
    await store.transactionOn([accountLock('a'), accountLock('b')], ({ quota }) => quota.take('b', ['2026-06-15'], 1));
    await store.transaction(({ quota }) => quota.take('a', ['2026-06-15'], 1));
    await store.transaction(({ holds }) => holds.set('a', by));
    expect(await store.quota.use('b', '2026-06-15')).toMatchObject({ used: 1 });
    expect(await store.quota.use('a', '2026-06-15')).toMatchObject({ used: 1 });
  });

  it.runIf(isOnServer())("that has locked an account doesn't delay the release of one of its slots", async () => {
    const store = await newStore({});
    const taken = await store.sendSlots.take('a', 5);
    if (!('ticket' in taken)) throw new Error('no slot is free');
    await store.transactionOn([accountLock('a')], async () => {
      await store.sendSlots.release(taken);
      expect(await store.sendSlots.underway('a')).toBe(0);
    });
  });

  it.runIf(isOnServer())("that has locked a key doesn't delay what a process records about itself", async () => {
    const store = await newStore({});
    await store.transactionOn([accountLock('a')], () => store.processSettings.set('heartbeat', 'x'));
    expect(await store.processSettings.all('heartbeat')).toMatchObject([{ value: 'x' }]);
  });

  it('can begin a run and plan its next firing with the key of its job', async () => {
    const store = await newStore({});
    await store.transactionOn([jobLock('a')], async ({ runs, schedules }) => {
      await runs.begin({ job: 'a', origin: 'schedule' });
      await schedules.set({ job: 'a', schedule: 'x', next_at: noon });
    });
    expect(await store.schedules.find('a')).toMatchObject({ next_at: noon });
  });
});
