import { sendOnce } from '../../lib/http.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import type { RunningControl } from '../../service/control/control.ts';
import { randomOf } from './prng.ts';

/** The fraction of runs whose source fails, if faults are injected. */
export const sourceFailureRate = 0.01;

const hourMs = 3_600_000;

/** The period in which all sources are down for an hour, in epoch milliseconds. The end is exclusive. */
export function sourceOutage(seed: number, { from, until }: { from: number; until: number }): Outage {
  const at = from + Math.floor(randomOf(seed, 'sources away') * Math.max(0, until - from - hourMs));
  return { from: at, until: at + hourMs };
}

export interface Outage {
  readonly from: number;
  readonly until: number;
}

/** Sporadic request faults, as fault rules for the embedded service (docs/service-control.md). */
function faultRules(seed: number): object[] {
  const seedOf = (name: string): number => Math.floor(randomOf(seed, name) * 2 ** 32);
  return [
    { id: 'rate-limited', probability: 0.01, answer: { status: 429, headers: { 'Retry-After': '2' } } },
    { id: 'failing', probability: 0.01, answer: { status: 500 } },
    { id: 'cut-before', probability: 0.005, reset: 'before_body' },
    { id: 'cut-after', probability: 0.005, reset: 'after_effect' },
  ].map((rule) => ({ ...rule, seed: seedOf(rule.id) }));
}

interface FaultOptions {
  readonly clock: VirtualClock;
  readonly control: RunningControl;
  readonly seed: number;
  /** Length of the period that contains the outage. The period starts now. */
  readonly spanMs: number;
}

/**
 * Injects faults into the service: sporadic rejections, failures and dropped connections, and a one-hour outage. The
 * seed determines all faults. Resolves to the start of the outage in epoch milliseconds.
 */
export async function injectFaults({ clock, control, seed, spanMs }: FaultOptions): Promise<number> {
  const call = (method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> =>
    callControl(control, { method, path, body });
  for (const rule of faultRules(seed)) await call('POST', '/faults', rule);
  const inMs = Math.floor(randomOf(seed, 'outage') * Math.max(0, spanMs - hourMs));
  void injectOutage({ clock, call, inMs });
  return clock.now() + inMs;
}

async function injectOutage({
  clock,
  call,
  inMs,
}: {
  clock: VirtualClock;
  call: (method: 'POST' | 'DELETE', path: string, body?: object) => Promise<void>;
  inMs: number;
}): Promise<void> {
  await clock.sleep(inMs);
  await whileClockStops(clock, call('POST', '/faults', { id: 'outage', reset: 'before_body' }));
  await clock.sleep(hourMs);
  await whileClockStops(clock, call('DELETE', '/faults/outage'));
}

async function whileClockStops(clock: VirtualClock, work: Promise<void>): Promise<void> {
  const release = clock.hold();
  await work.finally(release);
}

async function callControl(
  { url, token }: RunningControl,
  { method, path, body }: { method: 'POST' | 'DELETE'; path: string; body?: object },
): Promise<void> {
  const { status, text } = await sendOnce({
    url: url + path,
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs: 60_000,
    answerLimitBytes: 10_000,
  });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
}
