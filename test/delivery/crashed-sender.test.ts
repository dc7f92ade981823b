import { expect, it } from 'vitest';
import { daysOf } from '../../src/delivery/quota.ts';
import type { SlotTicket } from '../../src/state/quota/send-slots.ts';
import { deliver, deliverHere, heard, open, owe, stage, store } from './deliver-rig.ts';

deliverHere();

it("a delivery reports that a killed process's requests may still arrive, and waits only that long", async () => {
  const { destination, gateway } = open();
  const { account, requestsPerSecond } = destination;
  const days = daysOf(Date.now());
  const tickets: SlotTicket[] = [];
  for (let i = 0; i < requestsPerSecond; i++) {
    tickets.push((await store.sendSlots.take(account, requestsPerSecond, days)) as SlotTicket);
  }
  for (const ticket of tickets) await store.sendSlots.abandon(ticket, days);
  const id = await owe(gateway, destination, 'i');

  const [late] = await deliver(gateway, { until: Date.now() + 500 });
  expect(late).toMatchObject({ id, state: 'waiting_retry', problem: { code: 'SEND_SLOTS_BUSY', family: 'try_later' } });
  expect(stage.seen).toHaveLength(0);
  expect(heard.events.find(({ name }) => name === 'payload.waiting')?.facts).toMatchObject({
    code: 'SEND_SLOTS_BUSY',
    until: expect.any(Number),
  });
  expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', code: 'SEND_SLOTS_BUSY', attempts: 0 });

  for (const ticket of tickets) await store.sendSlots.release(ticket, days);
  expect(await deliver(gateway, { until: Date.now() + 120_000 })).toMatchObject([{ id, state: 'delivered' }]);
});
