import { afterEach, beforeEach } from 'vitest';
import type { Destination } from '../../src/config/config.ts';
import type { DeliverOptions, DeliveryResult } from '../../src/delivery/deliver.ts';
import type { Gateway } from '../../src/delivery/gateway.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Store } from '../../src/state/store.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  type Heard,
  jobFor,
  listener,
  openGateway,
  openStage,
  type Stage,
} from './fixtures.ts';
import { withinOneDay } from './one-day.ts';

/** For the running test: where payloads are owed, where they are sent, and which events were emitted. */
export let store: Store;
export let stage: Stage;
export let heard: Heard;

/** Gives each test of the calling file a {@link store}, a {@link stage} and the events {@link heard}. */
export function deliverHere(): void {
  beforeEach(async () => {
    await withinOneDay();
    store = await newStore({ clock: systemClock });
    stage = await openStage();
    heard = listener();
  });

  afterEach(async () => {
    await closeStages();
    await cleanUp();
  });
}

/** A destination on the test server, and its gateway. */
export function open(more: Partial<Destination> = {}): { destination: Destination; gateway: Gateway } {
  const destination = destinationAt(stage.url, more);
  return { destination, gateway: openGateway({ store, destinations: [destination], emit: heard.emit }) };
}

/** Sends what is owed once, as a sync does. */
export function deliver(
  gateway: Gateway,
  more: Partial<DeliverOptions> & { only?: readonly number[] } = {},
): Promise<DeliveryResult[]> {
  return deliverOwed({
    gateway,
    signal: AbortSignal.timeout(200_000),
    priority: 'schedule',
    ...more,
  });
}

/** Enqueues a document for an instance. */
export async function owe(gateway: Gateway, destination: Destination, instance: string, text = `data of ${instance}`) {
  const committed = await commitText(gateway, { job: jobFor(destination, instance), text });
  if (committed.state !== 'owed') throw new Error(committed.state);
  return committed.row.id;
}

/** For deliveries that may retry. */
export const patient = () => ({ until: Date.now() + 120_000 });
