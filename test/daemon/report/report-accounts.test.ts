import { afterEach, expect, it } from 'vitest';
import { reportAccounts } from '../../../src/daemon/report/report-accounts.ts';
import { AccountLeases } from '../../../src/delivery/account-leases.ts';
import { SteppingClock } from '../../clocks.ts';
import { cleanUp, newFolder, newStore, Population } from '../../state/fixtures.ts';
import { destinationOf } from '../rig.ts';

afterEach(cleanUp);

it('an account names the process on another machine that is sending to it', async () => {
  const [folder, clock, population] = [newFolder(), new SteppingClock(), new Population()];
  const owner = JSON.stringify(['elsewhere', 'boot', 'space', 7, 'start']);
  const [here, there] = [
    await newStore({ folder, clock, processes: population.member('here') }),
    await newStore({ folder, clock, processes: population.member(owner) }),
  ];
  const destination = destinationOf('http://127.0.0.1:1/api/1.0');
  const config = { destinations: new Map([['main', destination]]) };
  const senderOf = async () => (await reportAccounts(config, { ...here, isOnServer: true }, clock))[0]?.sender;
  const leases = new AccountLeases(there);
  expect(await senderOf()).toBeUndefined();
  await leases.hold(destination.account);
  expect(await senderOf()).toBe('process 7 on elsewhere');
  await leases.close();
  expect(await senderOf()).toBeUndefined();
});
