import { countOf } from '../../lib/count-text.ts';
import type { Condition, Snapshot } from './condition.ts';

/** Finds alert channels whose last attempt to send failed. Alerts may not reach all recipients. */
export async function findFailingChannels({ config, store, overview }: Snapshot): Promise<Condition[]> {
  const { alerts } = config;
  if (alerts === undefined) return [];
  return (await store.alerts.channels()).flatMap(({ channel, problem, waiting }): Condition[] => {
    const type = alerts.channels.get(channel)?.type;
    if (problem === undefined || type === undefined) return [];
    const what =
      type === 'heartbeat'
        ? `the ${channel} heartbeat is failing: ${problem}`
        : `the ${channel} alert channel is failing: ${problem}; ${countOf(waiting, 'message is waiting', 'messages are waiting')}`;
    const fix = `sluice alerts test ${channel}`;
    return [
      { subject: `channel:${channel}`, kind: 'channel', level: 'error', since: overview.now, what, jobs: [], fix },
    ];
  });
}
