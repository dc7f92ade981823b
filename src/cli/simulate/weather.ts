import { request } from 'undici';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import type { RunningControl } from '../../service/control/control.ts';
import { luckOf } from './luck.ts';

/** One job's run in so many fails at its source when the weather is bad. */
export const sourceFailures = 0.01;

const hourMs = 3_600_000;

/** The hour in which no source answers, in a span of time: epoch milliseconds, its end excluded. */
export function sourceOutage(seed: number, { from, until }: { from: number; until: number }): Outage {
  const at = from + Math.floor(luckOf(seed, 'sources away') * Math.max(0, until - from - hourMs));
  return { from: at, until: at + hourMs };
}

export interface Outage {
  readonly from: number;
  readonly until: number;
}

/** What happens to requests now and then, as rules of the service (docs/service-control.md). */
function nuisances(seed: number): object[] {
  const seedOf = (name: string): number => Math.floor(luckOf(seed, name) * 2 ** 32);
  return [
    { id: 'quiet', probability: 0.01, answer: { status: 429, headers: { 'Retry-After': '2' } } },
    { id: 'failing', probability: 0.01, answer: { status: 500 } },
    { id: 'cut-before', probability: 0.005, reset: 'before_body' },
    { id: 'cut-after', probability: 0.005, reset: 'after_effect' },
  ].map((rule) => ({ ...rule, seed: seedOf(rule.id) }));
}

interface WeatherGiven {
  readonly clock: VirtualClock;
  readonly control: RunningControl;
  readonly seed: number;
  /** Milliseconds from now on in which the hour of outage falls. */
  readonly spanMs: number;
}

/**
 * Bad weather at the service, the same for the same seed: refusals, failures and cut connections all the time, and one
 * hour in which nothing gets through. Resolves to the beginning of that hour (epoch milliseconds).
 */
export async function badWeather({ clock, control, seed, spanMs }: WeatherGiven): Promise<number> {
  const call = (method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> =>
    callControl(control, { method, path, body });
  for (const rule of nuisances(seed)) await call('POST', '/faults', rule);
  const inMs = Math.floor(luckOf(seed, 'outage') * Math.max(0, spanMs - hourMs));
  void outage({ clock, call, inMs });
  return clock.now() + inMs;
}

async function outage({
  clock,
  call,
  inMs,
}: {
  clock: VirtualClock;
  call: (method: 'POST' | 'DELETE', path: string, body?: object) => Promise<void>;
  inMs: number;
}): Promise<void> {
  await clock.sleep(inMs);
  await still(clock, call('POST', '/faults', { id: 'outage', reset: 'before_body' }));
  await clock.sleep(hourMs);
  await still(clock, call('DELETE', '/faults/outage'));
}

async function still(clock: VirtualClock, work: Promise<void>): Promise<void> {
  const letGo = clock.hold();
  await work.finally(letGo);
}

async function callControl(
  { url, token }: RunningControl,
  { method, path, body }: { method: 'POST' | 'DELETE'; path: string; body?: object },
): Promise<void> {
  const answer = await request(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
}
