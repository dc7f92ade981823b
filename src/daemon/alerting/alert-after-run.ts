import { book } from '../../alerts/book.ts';
import { Heartbeats } from '../../alerts/heartbeats.ts';
import { Messenger } from '../../alerts/messenger.ts';
import type { Config } from '../../config/config.ts';
import type { Runtime } from '../compose.ts';
import { readHeartbeat } from '../process/heartbeat.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { ConditionScanner } from './condition-scanner.ts';
import { describe } from './describe.ts';
import { raisedFacts } from './raised-facts.ts';

/** Maximum time that a command waits for an unresponsive channel. The next scan sends the remaining messages. */
const patienceMs = 10_000;
const good: readonly RunOutcome['state'][] = ['delivered', 'unchanged', 'refreshed'];

/**
 * Sends alerts after runs without a daemon. Scans once after all runs, so that conditions can be grouped by cause, and
 * makes one attempt to send each message.
 */
export async function alertAfterRun({
  runtime,
  config,
  outcomes,
  signal: stop,
}: {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly outcomes: readonly RunOutcome[];
  /** Cancels sending. Unsent messages remain pending. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, clock, events } = runtime;
  if (config.alerts === undefined) return;
  // All runs have ended, so no later conditions could join a group.
  const alerts = { ...config.alerts, settleMs: 0 };
  const { folder, file } = config;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)]);
  const daemon = await store.leases.holder('daemon');
  const beat = daemon === undefined ? undefined : await readHeartbeat(store, { owner: daemon.owner, clock });
  const lookout = new ConditionScanner();
  const seen = await lookout.scan({ config, alerts, store, clock, liveness: beat });
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
