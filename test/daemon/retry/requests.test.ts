import { expect, it } from 'vitest';
import { defineConnector } from '../../../src/sdk/connector.ts';
import { hour, minute, noon, openWorld } from './world.ts';

it("from a run's second attempt on, each request is repeated at most once", async () => {
  const { away, job, configWith, live, pass } = await openWorld(noon - minute);
  away.between(noon, noon + 10 * minute);
  const made = job({ cron: '0 12 * * *' });
  const { connector } = made.extract!.source;
  const seen: unknown[] = [];
  const looking = defineConnector({
    ...connector,
    extract: (context) => {
      seen.push((context.source as { retries?: unknown }).retries);
      return connector.extract(context as never);
    },
  });
  const source = { ...made.extract!.source, connector: looking, options: { retries: 5 } };
  const { runtime } = await live(configWith({ ...made, extract: { ...made.extract!, source } }));
  await pass(hour);
  expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'delivered' });
  expect(seen.slice(0, 3)).toEqual([5, 1, 1]);
});
