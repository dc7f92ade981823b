import { afterEach, describe, expect, it } from 'vitest';
import { AccountLeases } from '../../src/delivery/account-leases.ts';
import { Deliverer } from '../../src/delivery/deliverer.ts';
import { SteppingClock } from '../clocks.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cleanUp, newFolder, newStore, Population } from '../state/fixtures.ts';
import { checkLocks } from '../state/lock-check.ts';
import {
  closeStages,
  commitText,
  destinationAt,
  jobFor,
  listener,
  maxInASecond,
  openGateway,
  openStage,
} from './fixtures.ts';

const running: Deliverer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((deliverer) => deliverer.stop()));
  await closeStages();
  await cleanUp();
});

describe('an account', () => {
  async function setUp() {
    const [folder, clock, people] = [newFolder(), new SteppingClock(), new Population()];
    const open = async (name: string) =>
      new AccountLeases(await newStore({ folder, clock, processes: people.member(name) }));
    return { clock, people, a: await open('a'), b: await open('b') };
  }

  it('belongs to one process until that process has had nothing to send for a while', async () => {
    const { clock, a, b } = await setUp();
    expect(await a.hold('x')).toBe(true);
    expect([await b.hold('x'), await b.hold('y')]).toEqual([false, true]);
    clock.advance(4_000);
    expect(await a.hold('x')).toBe(true);
    clock.advance(4_000);
    await a.leaveIdle();
    expect([a.isHolding, await b.hold('x')]).toEqual([true, false]);
    clock.advance(4_000);
    await a.leaveIdle();
    expect([a.isHolding, await b.hold('x')]).toEqual([false, true]);
    await b.close();
    clock.advance(4_000);
    expect([b.isHolding, await a.hold('x'), await a.hold('y')]).toEqual([false, true, true]);
  });

  it('belongs to another process soon after its process has died', async () => {
    const { clock, people, a, b } = await setUp();
    await a.hold('x');
    expect(await b.hold('x')).toBe(false);
    people.dead.add('a');
    expect(await b.hold('x'), 'it has just asked').toBe(false);
    clock.advance(2_000);
    expect(await b.hold('x')).toBe(true);
  });
});

describeWithServer({ servers: 'PostgreSQL' }, 'deliverers that share a state on a server', (server) => {
  it('let one process send to an account, also what others have enqueued, until it stops', async () => {
    await checkLocks(server());
    const { host, port, user, password, database } = server();
    const [folder, people, stage] = [newFolder(), new Population(), await openStage()];
    const destination = destinationAt(stage.url);
    const open = async (name: string) => {
      const state = { host, port, user, password, database, schema: 'shared' };
      const store = await newStore({ folder, database: state, processes: people.member(name) });
      const heard = listener();
      const gateway = openGateway({ store, destinations: [destination], clock: store.clock, emit: heard.emit });
      const deliverer = new Deliverer(gateway);
      running.push(deliverer);
      const owe = async (...instances: string[]) => {
        for (const instance of instances) {
          await commitText(gateway, { job: jobFor(destination, instance), text: instance });
        }
        deliverer.nudge();
      };
      const delivered = () => heard.names().filter((event) => event === 'payload.delivered').length;
      return { store, deliverer, owe, delivered };
    };
    const [a, b] = [await open('a'), await open('b')];
    await a.owe('1', '2', '3', '4', '5', '6', '7');
    a.deliverer.start();
    await expect.poll(a.delivered).toBeGreaterThan(0);
    b.deliverer.start();
    await b.owe('8', '9');
    await expect.poll(a.delivered).toBe(9);
    expect(b.delivered()).toBe(0);
    await a.deliverer.stop();
    await b.owe('10');
    await expect.poll(b.delivered).toBe(1);
    expect(maxInASecond(stage.seen.map(({ at }) => at))).toBeLessThanOrEqual(5);
  });
});
