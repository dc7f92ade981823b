import { Problem } from '../../lib/problem.ts';
import { isObject, textOf } from './exact-json.ts';
import { filters } from './filters.ts';
import { Moment, readMoment } from './moment.ts';
import { valueAt } from './path.ts';
import '../../lib/temporal.ts';

/** Template variables. `now` is always set, and days are in its time zone. */
export interface Scope {
  readonly now: Moment;
  readonly [name: string]: unknown;
}

/**
 * A string with placeholders: `{{ name }}`, `{{ today - 7d }}`, `{{ window.from | format: YYYYMMDD }}`. If the template
 * is a single placeholder, the value keeps its type (a number, a list). If a name has no value, the whole template has
 * none, and that part of the request is omitted. A function can be used instead of a string for anything that
 * placeholders can't express.
 */
export type Template = string | number | boolean | ((scope: Scope) => unknown);

/** The value of a template; undefined if a name in it has no value. */
export function render(template: Template, scope: Scope): unknown {
  if (typeof template === 'function') return template(scope);
  if (typeof template !== 'string') return template;
  const parts = partsOf(template);
  if (parts.length === 1 && typeof parts[0] !== 'string') return plain(evaluate(parts[0]!, scope));
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : textOf(plain(evaluate(part, scope)));
    if (value === undefined) return undefined;
    text += value;
  }
  return text;
}

/** The value of a template as a string; undefined if a name in it has no value. */
export function renderText(template: Template, scope: Scope): string | undefined {
  return textOf(render(template, scope));
}

/** Fills the templates in a JSON value, and omits members that have no value. */
export function renderDeep(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string' || typeof value === 'function') return render(value as Template, scope);
  if (Array.isArray(value)) return value.map((item) => renderDeep(item, scope)).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, renderDeep(inner, scope)] as const);
  return Object.fromEntries(members.filter(([, inner]) => inner !== undefined));
}

/** Validates the templates in a value before a run. `names` are the allowed variables. */
export function templateFault(value: unknown, names: ReadonlySet<string>): string | undefined {
  if (Array.isArray(value) || isObject(value)) {
    for (const inner of Object.values(value)) {
      const fault = templateFault(inner, names);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (typeof value !== 'string') return undefined;
  try {
    const unknown = partsOf(value).find((part) => typeof part !== 'string' && !isKnown(part, names));
    return unknown === undefined ? undefined : `unknown name "${(unknown as Place).term}"`;
  } catch (error) {
    if (error instanceof Problem) return `${error.message}: ${error.seen}`;
    throw error;
  }
}

interface Place {
  readonly term: string;
  readonly spans: readonly string[];
  readonly filters: readonly { readonly name: string; readonly argument: string | undefined }[];
}

const parsed = new Map<string, readonly (string | Place)[]>();

function partsOf(template: string): readonly (string | Place)[] {
  const known = parsed.get(template);
  if (known !== undefined) return known;
  const parts: (string | Place)[] = [];
  let end = 0;
  for (const { 0: whole, 1: inside, index } of template.matchAll(/\{\{((?:'[^']*'|[^'])*?)\}\}/g)) {
    if (index > end) parts.push(template.slice(end, index));
    parts.push(placeOf(inside!.trim()));
    end = index + whole.length;
  }
  if (end < template.length || parts.length === 0) parts.push(template.slice(end));
  if (parsed.size < 10_000) parsed.set(template, parts);
  return parts;
}

function placeOf(text: string): Place {
  const [head = '', ...rest] = text.split('|').map((part) => part.trim());
  const [, term, ops] = /^('[^']*'|[\w$@.*]*[\w$@*])((?:\s*[+-]\s*\d+[a-z]+)*)$/i.exec(head) ?? [];
  if (term === undefined) throw badTemplate(text);
  const spans = [...(ops ?? '').matchAll(/([+-])\s*(\d+[a-z]+)/gi)].map(([, sign, span]) => `${sign}${span}`);
  const steps = rest.map((part) => {
    const [, name, argument] = /^(\w+)(?:\s*:\s*(.*))?$/.exec(part) ?? [];
    if (name === undefined || !Object.hasOwn(filters, name)) throw badTemplate(part);
    return { name, argument };
  });
  return { term, spans, filters: steps };
}

function evaluate({ term, spans, filters: steps }: Place, scope: Scope): unknown {
  let value = named(term, scope);
  for (const span of spans) value = momentOf(value, scope)?.plus(span);
  for (const { name, argument } of steps) {
    if (value === undefined && name !== 'default') return undefined;
    value = filters[name]!(value, argument, scope);
  }
  return value;
}

const days: Readonly<Record<string, (day: Temporal.ZonedDateTime) => Temporal.ZonedDateTime>> = {
  today: (day) => day,
  yesterday: (day) => day.subtract({ days: 1 }),
  tomorrow: (day) => day.add({ days: 1 }),
  week_start: (day) => day.subtract({ days: day.dayOfWeek - 1 }),
  month_start: (day) => day.with({ day: 1 }),
  quarter_start: (day) => day.with({ month: Math.floor((day.month - 1) / 3) * 3 + 1, day: 1 }),
  year_start: (day) => day.with({ month: 1, day: 1 }),
};

function named(term: string, scope: Scope): unknown {
  if (term.startsWith("'")) return term.slice(1, -1);
  const value = valueAt(scope, term);
  if (value !== undefined) return value === null ? undefined : value;
  const day = Object.hasOwn(days, term) ? days[term] : undefined;
  return day === undefined ? undefined : new Moment(day(scope.now.at.startOfDay()), true);
}

function isKnown({ term }: Place, names: ReadonlySet<string>): boolean {
  return term.startsWith("'") || names.has(term.split('.')[0]!) || term === 'now' || Object.hasOwn(days, term);
}

/** Converts a value to a moment, if possible. */
export function momentOf(value: unknown, { now }: Scope): Moment | undefined {
  if (value instanceof Moment) return value;
  const text = textOf(value);
  return text === undefined ? undefined : readMoment(text, now.at.timeZoneId);
}

function plain(value: unknown): unknown {
  return value instanceof Moment ? value.text() : value;
}

function badTemplate(seen: string): Problem {
  return new Problem({
    code: 'TEMPLATE_SYNTAX',
    family: 'config',
    message: 'unknown expression between {{ and }}',
    seen,
    allowed: `a name, today - 7d, now | format: YYYYMMDD; filters: ${Object.keys(filters).join(', ')}`,
  });
}
