import { expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract, askedInFull } = restBench();

test("dates in templates are in the job's time zone", async () => {
  server.answer = (_, response) => sendJson(response, []);
  const zone = 'Pacific/Kiritimati';
  const day = Temporal.Now.plainDateISO(zone);
  await extract(
    {
      path: '/d/{{ today | format: YYYYMMDD }}',
      parameters: [
        { name: 'since', value: '{{ today - 7d }}' },
        { name: 'month', value: '{{ month_start - 1mo | format: YYYY-MM }}' },
      ],
      method: 'POST',
      body: { from: '{{ yesterday }}', size: 5, list: ['{{ year_start }}'] },
    },
    {},
    { timezone: zone },
  );
  const month = day.with({ day: 1 }).subtract({ months: 1 }).toString().slice(0, 7);
  const path = `/d/${day.toString().replaceAll('-', '')}?since=${day.subtract({ days: 7 })}&month=${month}`;
  const body = {
    from: day.subtract({ days: 1 }).toString(),
    size: 5,
    list: [day.with({ month: 1, day: 1 }).toString()],
  };
  expect(askedInFull()).toEqual([`POST ${path} ${JSON.stringify(body)}`]);
});

test("dates in templates are based on the run's logical time", async () => {
  server.answer = (_, response) => sendJson(response, []);
  const logicalAt = Date.parse('2026-03-01T23:30Z');
  const query = { path: '/d?on={{ today }}&at={{ now }}&from={{ window.from }}', window: { start: '{{ yesterday }}' } };
  await extract(query, {}, { timezone: 'Europe/Berlin', logicalAt });
  expect(askedInFull()).toEqual(['GET /d?on=2026-03-02&at=2026-03-01T23:30:00Z&from=2026-03-01']);
});

test("a period is requested in parts that don't share a day", async () => {
  server.answer = ({ searchParams }, response) => sendJson(response, [{ day: searchParams.get('from') }]);
  const window = { start: '2026-01-01', end: '2026-01-05', step: '2d' };
  const query = { path: '/x?from={{ window.from }}&to={{ window.to }}', window };
  expect((await extract(query)).rows).toEqual([['2026-01-01'], ['2026-01-03'], ['2026-01-05']]);
  await extract({ ...query, window: { ...window, step: '1mo', bound: 'outside' } });
  expect(askedInFull()).toEqual([
    'GET /x?from=2026-01-01&to=2026-01-02',
    'GET /x?from=2026-01-03&to=2026-01-04',
    'GET /x?from=2026-01-05&to=2026-01-05',
    'GET /x?from=2026-01-01&to=2026-01-06',
  ]);
});

test("the same rows in two periods aren't treated as a repeated page", async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 2));
  const query = { path: '/x?from={{ window.from }}', window: { start: '2026-01-01', end: '2026-01-02', step: '1d' } };
  expect((await extract(query)).rows).toEqual([...numbers(0, 2), ...numbers(0, 2)]);
});
