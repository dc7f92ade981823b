import { book } from '../../alerts/book.ts';
import { Heartbeats } from '../../alerts/heartbeats.ts';
import { Messenger } from '../../alerts/messenger.ts';
import type { Config } from '../../config/config.ts';
import type { Outcome } from '../outcome.ts';
import { readPulse } from '../pulse.ts';
import type { Runtime } from '../wire.ts';
import { describe } from './describe.ts';
import { Lookout } from './look.ts';
import { raisedFacts } from './raised-facts.ts';

/** Whoever waits for a command should not wait for a channel that hangs: what is owed goes out with the next look. */
const patienceMs = 10_000;
const good: readonly Outcome['state'][] = ['delivered', 'unchanged', 'refreshed'];

/**
 * Tells people what came of runs that no daemon watches, and what else there is to tell: one look at the end, with all
 * that one cause did in one message, and one attempt to send.
 */
export async function tellAfter({
  runtime,
  config,
  outcomes,
  signal: stop,
}: {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly outcomes: readonly Outcome[];
  /** Stops what is being sent: it stays owed. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, clock, events } = runtime;
  if (config.alerts === undefined) return;
  // Nothing more of the same is to be waited for: the runs are over.
  const alerts = { ...config.alerts, settleMs: 0 };
  const { folder, file } = config;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)]);
  const daemon = await store.leases.holder('daemon');
  const beat = daemon === undefined ? undefined : await readPulse(store, { owner: daemon.owner, clock });
  const lookout = new Lookout();
  const seen = await lookout.look({ config, alerts, store, clock, beat });
  const { bulletins } = await book(
    {
      store,
      alerts,
      file,
      now: clock.now(),
      describe: (subject, occasion) => describe(subject, { occasion, config, store, clock, cache: lookout.cache }),
    },
    seen,
  );
  for (const bulletin of bulletins) events.emit('alert.raised', raisedFacts(bulletin));
  const around = { alerts, store, clock, emit: events.emit, folder };
  const beats = new Heartbeats({ ...around, signal });
  for (const { job, state } of outcomes) if (good.includes(state)) beats.good(job);
  await Promise.all([new Messenger(around).sendDue(signal), beats.settled()]);
}
