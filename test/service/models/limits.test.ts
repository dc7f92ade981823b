import { expect, it } from 'vitest';
import { SteppingClock } from '../../clocks.ts';
import fc from '../../property.ts';
import { type Bench, fixtures, keys } from '../service.ts';
import { CompanyLimits, midnightAfter, StrangerLimits } from './limits.ts';
import { type Step, walk } from './run-model.ts';

const [acme, other] = fixtures.companies;
const companies = [
  { ...acme!, requests_per_day: 14 },
  { ...other!, requests_per_day: 9 },
];

interface Model {
  readonly acme: CompanyLimits;
  readonly other: CompanyLimits;
  readonly strangers: StrangerLimits;
}

/** Calls, the company whose limits each counts toward, and the status if the limits allow it. */
const calls = [
  { title: 'Acme requests a profile', payer: 'acme', key: keys.acmeAdmin, path: '/profile', status: 200 },
  {
    title: "Acme requests a client's Klips",
    payer: 'acme',
    key: keys.acmeAdmin,
    path: '/klips?client_id=bakery',
    status: 200,
  },
  { title: 'Acme requests an unknown path', payer: 'acme', key: keys.acmeEditor, path: '/nowhere', status: 404 },
  { title: 'Acme sends a forbidden request', payer: 'acme', key: keys.acmeNobody, path: '/users', status: 401 },
  { title: 'Acme sends an invalid request', payer: 'acme', key: keys.acmeAdmin, path: '/klips?limit=0', status: 400 },
  { title: 'Other requests a profile', payer: 'other', key: keys.otherAdmin, path: '/profile', status: 200 },
  { title: 'a stranger sends a request', payer: 'strangers', key: 'f'.repeat(40), path: '/profile', status: 401 },
] as const;

/** Days of 24, 23 and 25 hours. */
const days = ['2026-06-10', '2026-03-08', '2026-11-01', '2026-12-31'] as const;

function stepsOn(clock: { now: SteppingClock }): fc.Arbitrary<Step<Model>>[] {
  const several = fc.tuple(fc.constantFrom(...calls), fc.integer({ min: 1, max: 7 })).map(([call, times]) => ({
    title: `${call.title}, ${times} times`,
    run: async (model: Model, given: Bench) => {
      for (let i = 0; i < times; i++) {
        const refusal = model[call.payer].call(clock.now.now());
        const { status, body, headers } = await given.call('GET', call.path, { key: call.key });
        expect(status).toBe(refusal === undefined ? call.status : 429);
        if (refusal === undefined) continue;
        expect([body.meta.error_code, headers['retry-after']]).toEqual([refusal.code, String(refusal.retryAfter)]);
      }
    },
  }));
  const pass = fc.constantFrom(1, 199, 500, 999, 1000, 1001, 3_600_000).map((milliseconds) => ({
    title: `${milliseconds} ms pass`,
    run: async () => clock.now.advance(milliseconds),
  }));
  const midnight = fc.constantFrom(-1000, -1, 0, 1).map((off) => ({
    title: `advance to midnight in New York ${off} ms`,
    run: async () => clock.now.advance(Math.max(0, midnightAfter(clock.now.now()) - clock.now.now() + off)),
  }));
  const report = fc.constant({
    title: 'Acme requests its usage',
    run: async (model: Model, given: Bench) => {
      const now = clock.now.now();
      const refused = model.acme.call(now) !== undefined;
      const path = '/usage-overview/api-usage?start_date=0&end_date=4000000000&limit=100';
      const { status, body } = await given.call('GET', path);
      expect(status).toBe(refused ? 429 : 200);
      if (refused) return;
      const shown = body.data.overview as { api_usage: string }[];
      expect(shown.at(-1)!.api_usage).toBe(String(model.acme.usedOn(now)));
    },
  });
  return [several, several, several, pass, pass, midnight, report];
}

it.each(days)('the limits allow the same calls as the model on and around %s', async (day) => {
  const clock = { now: new SteppingClock(`${day}T01:00:00-05:00`) };
  const options = () => {
    clock.now = new SteppingClock(`${day}T01:00:00-05:00`);
    return { given: { companies }, limits: true, clock: clock.now, tickMs: 3_600_000 };
  };
  const model = () => ({
    acme: new CompanyLimits({ perSecond: 5, perDay: 14 }),
    other: new CompanyLimits({ perSecond: 5, perDay: 9 }),
    strangers: new StrangerLimits(),
  });
  await walk(stepsOn(clock), { options, model, walks: 15, steps: 50 });
});
