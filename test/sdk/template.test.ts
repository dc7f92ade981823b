import { describe, expect, it } from 'vitest';
import { Moment } from '../../src/sdk/service/moment.ts';
import { render, renderDeep, templateFault } from '../../src/sdk/service/template.ts';

/** A run's scope at this time in a zone. */
const scopeAt = (local: string, more: object = {}) => ({
  now: new Moment(Temporal.ZonedDateTime.from(local), false),
  ...more,
});
/** A Wednesday. */
const wednesday = scopeAt('2026-11-18T09:30:00[Europe/Berlin]');

describe('a day name', () => {
  it.each([
    ['today', '2026-11-18'],
    ['yesterday', '2026-11-17'],
    ['tomorrow', '2026-11-19'],
    ['week_start', '2026-11-16'],
    ['month_start', '2026-11-01'],
    ['quarter_start', '2026-10-01'],
    ['year_start', '2026-01-01'],
    ['week_start - 1w', '2026-11-09'],
    ['month_start - 1d', '2026-10-31'],
    ['quarter_start + 3mo', '2027-01-01'],
  ])('%s is %s', (term, day) => {
    expect(render(`{{ ${term} }}`, wednesday)).toBe(day);
  });

  it.each([
    ['2026-11-16T00:00:00[UTC]', '2026-11-16'],
    ['2026-11-22T23:59:59[UTC]', '2026-11-16'],
    ['2026-11-23T00:00:00[UTC]', '2026-11-23'],
    ['2027-01-01T12:00:00[UTC]', '2026-12-28'],
  ])('week_start at %s is the Monday %s', (now, monday) => {
    expect(render('{{ week_start }}', scopeAt(now))).toBe(monday);
  });

  it.each([
    ['2026-03-31', '2026-01-01'],
    ['2026-04-01', '2026-04-01'],
    ['2026-12-31', '2026-10-01'],
  ])('quarter_start on %s is %s', (day, first) => {
    expect(render('{{ quarter_start }}', scopeAt(`${day}T12:00:00[UTC]`))).toBe(first);
  });

  it("is in the run's time zone, and means the start of the day there", () => {
    const late = scopeAt('2026-11-17T23:30:00[America/New_York]');
    expect(render('{{ today }}', late)).toBe('2026-11-17');
    expect(render('{{ today | iso }}', late)).toBe('2026-11-17T05:00:00Z');
  });
});

describe('a template', () => {
  it("keeps a value's type if it consists only of that value, and has no value if one of its names doesn't", () => {
    const scope = scopeAt('2026-11-18T09:30:00[UTC]', { page: { size: 100 }, list: ['a', 'b'], none: null });
    expect(render('{{ page.size }}', scope)).toBe(100);
    expect(render('n={{ page.size }}', scope)).toBe('n=100');
    expect(render('{{ list }}', scope)).toEqual(['a', 'b']);
    expect(render('x{{ none }}', scope)).toBeUndefined();
    expect(render('{{ none | default: 7 }}', scope)).toBe('7');
    expect(renderDeep({ a: '{{ none }}', b: ['{{ page.size }}', '{{ none }}'], c: 1 }, scope)).toEqual({
      b: [100],
      c: 1,
    });
  });

  it("is rejected if it has unknown names or can't be parsed", () => {
    const names = new Set(['page']);
    expect(templateFault({ a: ['{{ week_start }} {{ page.x }} {{ now }}'] }, names)).toBeUndefined();
    expect(templateFault('{{ weekstart }}', names)).toContain('"weekstart"');
    expect(templateFault('{{ today | shout }}', names)).toContain('shout');
    expect(templateFault("{{ 'a}}b' }}", names)).toBeUndefined();
  });
});
