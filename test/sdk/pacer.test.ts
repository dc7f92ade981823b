import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ServiceAnswer } from '../../src/sdk/service/answer.ts';
import { Pacer } from '../../src/sdk/service/pacer.ts';
import type { Budget } from '../../src/sdk/service/rules.ts';

const alive = new AbortController().signal;
const stopped = new Error('stopped');

/** Callers in the order in which they got a turn. Each one's turn ends when the test says so. */
function crowd(budget: Budget) {
  const pacer = new Pacer(budget);
  const order: string[] = [];
  const releases = new Map<string, () => void>();
  const come = async (name: string, signal = alive): Promise<void> => {
    const release = await pacer.turn(signal);
    order.push(name);
    releases.set(name, release);
  };
  return { come, order, leave: (name: string) => releases.get(name)!() };
}

/** Waits until everything that can happen without the test has happened. */
const settled = async () => {
  for (let i = 0; i < 5; i++) await tick();
};

describe('with one request at a time', () => {
  it('runs start one after another, in the order in which they asked', async () => {
    const { come, order, leave } = crowd({ at_once: 1 });
    const all = ['a', 'b', 'c'].map((name) => come(name));
    await settled();
    expect(order).toEqual(['a']);
    leave('a');
    await settled();
    expect(order).toEqual(['a', 'b']);
    leave('b');
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('a later request never overtakes an earlier one', async () => {
    const { come, order, leave } = crowd({ at_once: 1 });
    await come('a');
    const waiting = come('b');
    leave('a');
    const late = come('c');
    await waiting;
    expect(order).toEqual(['a', 'b']);
    leave('b');
    await late;
  });

  it("a run that is stopped while it waits doesn't delay later runs", async () => {
    const { come, order, leave } = crowd({ at_once: 1 });
    const stop = new AbortController();
    await come('a');
    const given = expect(come('b', stop.signal)).rejects.toThrow('stopped');
    const behind = come('c');
    stop.abort(stopped);
    await given;
    leave('a');
    await behind;
    expect(order).toEqual(['a', 'c']);
  });

  it("a run that is stopped while it waits doesn't let later runs overtake earlier runs", async () => {
    const { come, order, leave } = crowd({ at_once: 1 });
    const stop = new AbortController();
    await come('a');
    const before = come('b');
    const given = expect(come('c', stop.signal)).rejects.toThrow('stopped');
    stop.abort(stopped);
    await given;
    await settled();
    expect(order).toEqual(['a']);
    leave('a');
    await before;
    expect(order).toEqual(['a', 'b']);
  });

  it('a run that is stopped just as its turn comes passes the turn to the next run', async () => {
    const { come, order, leave } = crowd({ at_once: 1 });
    const stop = new AbortController();
    await come('a');
    const given = expect(come('b', stop.signal)).rejects.toThrow('stopped');
    const behind = come('c');
    await settled();
    leave('a');
    stop.abort(stopped);
    await given;
    await behind;
    expect(order).toEqual(['a', 'c']);
  });

  it("a run that was stopped before it asked doesn't get a turn", async () => {
    const { come, leave } = crowd({ at_once: 1 });
    await come('a');
    await expect(come('b', AbortSignal.abort(stopped))).rejects.toThrow('stopped');
    leave('a');
    await come('c');
  });
});

it('a run that is stopped while it waits for the rate limit releases its slot', async () => {
  const { come, order, leave } = crowd({ at_once: 1, rates: [{ requests: 1, within: '1s' }] });
  await come('a');
  leave('a');
  const stop = new AbortController();
  const given = expect(come('b', stop.signal)).rejects.toThrow('stopped');
  const behind = come('c');
  await settled();
  stop.abort(stopped);
  await given;
  await behind;
  expect(order).toEqual(['a', 'c']);
});

describe('a gauge', () => {
  type Gauge = NonNullable<Budget['gauges']>[number];
  const learn = (gauge: Omit<Gauge, 'at' | 'pause'>, value: string) => {
    const pacer = new Pacer({ gauges: [{ at: { header: 'x-left' }, pause: '7s', ...gauge }] });
    return pacer.learn({ status: 200, headers: { 'x-left': value }, body: {} } as unknown as ServiceAnswer);
  };

  it.each<[Gauge['means'], number | undefined, string, boolean]>([
    ['left', undefined, '0', true],
    ['left', undefined, '1', false],
    ['left', 10, '9', true],
    ['left', 10, '10', false],
    ['used/limit', undefined, '90/100', false],
    ['used/limit', undefined, 'calls=91/100', true],
    ['used/limit', 0.5, '51 / 100', true],
    ['percent_used', undefined, '90', false],
    ['percent_used', undefined, '91', true],
    ['left', undefined, 'many', false],
  ])('that measures %s (threshold %s) with the value %s is low: %s', (means, threshold, value, isLow) => {
    const low = learn({ means, ...(threshold === undefined ? {} : { threshold }) }, value);
    expect(low).toEqual(isLow ? { at: 'header x-left', value, pauseMs: 7000 } : undefined);
  });
});
