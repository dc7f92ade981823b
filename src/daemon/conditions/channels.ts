import { acceptsAlerts } from '../../config/options/alerts.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Condition, Snapshot } from './condition.ts';

/** Finds alert channels whose last attempt to send failed. Alerts may not reach all recipients. */
export async function findFailingChannels({ config, store, overview }: Snapshot): Promise<Condition[]> {
  const { alerts } = config;
  if (alerts === undefined) return [];
  return (await store.alerts.channels()).flatMap(({ channel, problem, waiting }): Condition[] => {
    const given = alerts.channels.get(channel);
    if (problem === undefined || given === undefined) return [];
    const what = acceptsAlerts(given)
      ? `the ${channel} alert channel is failing: ${problem}; ${countOf(waiting, 'message is waiting', 'messages are waiting')}`
      : `the ${channel} ${given.type} is failing: ${problem}`;
    const fix = `sluice alerts test ${channel}`;
    return [
      { subject: `channel:${channel}`, kind: 'channel', level: 'error', since: overview.now, what, jobs: [], fix },
    ];
  });
}
