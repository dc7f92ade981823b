import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

const key = { url: 'http://127.0.0.1:1/api/1.0', instance: '11111111-1111-4111-8111-111111111111' };
const contents = { sha256: 'a'.repeat(64), bytes: 1, format: 'csv', asOf: 10 } as const;

afterEach(cleanUp);

describe('a receipt that two processes change at once', () => {
  async function twoStores() {
    const folder = newFolder();
    const [one, other] = [
      await newStore({ folder, clock: systemClock }),
      await newStore({ folder, clock: systemClock }),
    ];
    await one.receipts.confirm(key, contents);
    const renew = () => other.transaction(({ receipts }) => receipts.renew(key, 20));
    return { one: one.receipts, renew };
  }

  it('is trusted again and keeps the age of newer data', async () => {
    const { one, renew } = await twoStores();
    await one.doubt(key, contents);
    await Promise.all([one.trust(key), renew()]);
    expect(await one.find(key)).toMatchObject({ certain: 1, as_of: 20, tried_as_of: 20 });
  });

  it('is distrusted and keeps the age of newer data', async () => {
    const { one, renew } = await twoStores();
    await Promise.all([one.distrust(key), renew()]);
    expect(await one.find(key)).toMatchObject({ certain: 0, as_of: 20, tried_as_of: 20 });
  });
});
