import type { Config, Destination } from '../../config/config.ts';
import { apiRequest } from '../../delivery/api-request.ts';
import { closedProblem } from '../../delivery/closed.ts';
import { toProblem } from '../../lib/problem.ts';
import { durationText } from '../../lib/time-text.ts';
import type { Runtime } from '../compose.ts';
import { bad, type Finding, good } from './finding.ts';

/**
 * The clock skew that the daily request count tolerates near midnight (see delivery/quota.ts). If the skew is larger, a
 * request may be charged to the wrong day.
 */
const maxSkewMs = 5_000;
/** The `Date` header contains only whole seconds (RFC 9110, section 6.6.1), so it's half a second behind on average. */
const halfSecondMs = 500;

/**
 * Compares this machine's clock with the service's clock. Sends one small request per account, which counts toward the
 * quota and is rate-limited like any other. Error responses also contain the service's time.
 */
export async function examineClocks(config: Config, runtime: Runtime, signal: AbortSignal): Promise<Finding[]> {
  const accounts = Map.groupBy(config.destinations.values(), ({ account }) => account);
  const first = [...accounts.values()].map(([destination]) => destination!);
  return Promise.all(first.map((destination) => examineClock(destination, { runtime, signal })));
}

async function examineClock(
  destination: Destination,
  { runtime, signal }: { runtime: Runtime; signal: AbortSignal },
): Promise<Finding> {
  const { gateway, clock } = runtime;
  const gate = gateway.of(destination);
  const { name } = destination;
  const asked = { method: 'GET', path: '/datasources' } as const;
  let began = 0;
  const passed = await gate.send({
    ...asked,
    priority: 'person',
    signal,
    prepare: async () => true,
    send: (_, beforeSent) => {
      began = clock.now();
      return apiRequest({ gateway, gate, ...asked, query: { limit: 1 }, signal, beforeSent });
    },
  });
  const fix = 'for details, run "sluice check --connect"';
  if (passed === 'idle') return bad('clock', `${name} was not asked`, fix);
  if ('closed' in passed)
    return bad('clock', `${name}: ${closedProblem(passed.closed, name, clock.now()).message}`, fix);
  if ('error' in passed) {
    const { message } = toProblem(passed.error, { code: 'CONNECT_FAILED', family: 'try_later' });
    return bad('clock', `${name} did not respond: ${message}`, fix);
  }
  const { date } = passed.answer;
  if (date === undefined) return good('clock', `${name} does not report its time`);
  return clockFinding(name, { date: date + halfSecondMs, began, ended: clock.now() });
}

/**
 * `date` is the service's time at some point between `began` and `ended` on this machine's clock. All are in epoch
 * milliseconds.
 */
export function clockFinding(
  name: string,
  { date, began, ended }: { date: number; began: number; ended: number },
): Finding {
  const skew = (began + ended) / 2 - date;
  const unsure = (ended - began) / 2 + halfSecondMs;
  const far = durationText(Math.abs(skew));
  if (Math.abs(skew) - unsure <= maxSkewMs)
    return good('clock', `matches the clock of ${name} to within ${durationText(unsure)}`);
  const message = `this machine's clock is ${far} ${skew > 0 ? 'ahead of' : 'behind'} the clock of ${name}`;
  return bad('clock', message, 'synchronize the clock with a time server: timedatectl set-ntp true');
}
