import { Type } from 'typebox';
import { badRequest } from '../../http/api-error.ts';
import { isoTime } from '../../http/fields.ts';
import { easternDay } from '../../limits/eastern-day.ts';
import { applyClockChange } from '../../ticking.ts';
import type { ControlContext } from '../context.ts';
import { type ControlEndpoint, defineControl } from '../endpoint.ts';
import '../../../lib/temporal.ts';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Parses `500ms`, `90s`, `15m`, `24h`, `14d`, or an ISO 8601 duration without months and years, to milliseconds; a day
 * has 24 hours. Returns undefined for any other string and for negative durations.
 */
function durationMs(text: string): number | undefined {
  const short = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text);
  if (short !== null) return Number(short[1]) * units[short[2] as keyof typeof units];
  try {
    const total = Temporal.Duration.from(text).total({ unit: 'milliseconds' });
    return total < 0 ? undefined : Math.round(total);
  } catch {
    return undefined;
  }
}

const earliest = Date.parse('1970-01-02T00:00:00Z');
const latest = Date.parse('9999-12-30T00:00:00Z');

const time = Type.String({ ...isoTime, 'x-rule': 'must be a time such as 2026-11-01T05:59:59Z' });

function describe({ clock }: ControlContext): object {
  const now = clock.now();
  const { date, end } = easternDay(now);
  return {
    now: new Date(now).toISOString(),
    real: new Date(clock.realNow).toISOString(),
    frozen: clock.isFrozen,
    ahead_ms: clock.offsetMs,
    eastern_day: date,
    day_ends: new Date(end).toISOString(),
  };
}

function inRange(now: number): number {
  if (now >= earliest && now <= latest) return now;
  throw badRequest('The clock can only be set to times from 1970-01-02 to 9999-12-30');
}

/** Runs the daily snapshots and refreshes that a clock change made due, then returns the response. */
function moved(context: ControlContext): { data: object } {
  applyClockChange(context.service);
  return { data: describe(context) };
}

/** How far to advance the clock, in milliseconds. */
function stepOf(context: ControlContext, { by, to }: { by?: string; to?: 'next_day' }): number {
  if ((by === undefined) === (to === undefined)) throw badRequest('Exactly one of the fields by and to is required');
  const now = context.clock.now();
  const step = by === undefined ? easternDay(now).end - now : durationMs(by);
  if (step === undefined) throw badRequest('Field "by" must be a duration such as 90s, 15m, 24h, 14d or PT1H30M');
  return inRange(now + step) - now;
}

/** The service's clock, used for the daily limit, reports, refresh intervals and trials. */
export default [
  defineControl({
    method: 'GET',
    path: '/clock',
    summary: "Shows the service's time",
    do: ({ context }) => ({ data: describe(context) }),
  }),
  defineControl({
    method: 'PUT',
    path: '/clock',
    summary: 'Sets, freezes or unfreezes the clock',
    body: { now: Type.Optional(time), frozen: Type.Optional(Type.Boolean()) },
    do: ({ context, body: { now, frozen } }) => {
      if (now === undefined && frozen === undefined)
        throw badRequest('At least one of the fields now and frozen is required');
      const at = now === undefined ? undefined : inRange(Date.parse(now));
      if (frozen === true) context.clock.freeze(at);
      else if (at !== undefined) context.clock.set(at);
      if (frozen === false) context.clock.resume();
      return moved(context);
    },
  }),
  defineControl({
    method: 'POST',
    path: '/clock/advance',
    summary: 'Advances the clock by a duration, or to midnight in New York',
    body: { by: Type.Optional(Type.String()), to: Type.Optional(Type.Enum(['next_day'] as const)) },
    do: ({ context, body }) => {
      context.clock.advance(stepOf(context, body));
      return moved(context);
    },
  }),
  defineControl({
    method: 'DELETE',
    path: '/clock',
    summary: 'Returns to the real time',
    do: ({ context }) => {
      context.clock.release();
      return moved(context);
    },
  }),
] satisfies readonly ControlEndpoint[];
