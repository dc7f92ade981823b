import { textOf } from './exact-json.ts';
import { type DateFormat, Moment, readMoment } from './moment.ts';

type Filter = (value: unknown, argument: string | undefined, scope: { readonly now: Moment }) => unknown;

const text = (value: unknown) => (value instanceof Moment ? value.text() : (textOf(value) ?? ''));
const unquoted = (argument = '') => argument.replace(/^'([^']*)'$/, '$1');

const dated =
  (format?: DateFormat): Filter =>
  (value, argument, { now }) => {
    const moment = value instanceof Moment ? value : readMoment(text(value), now.at.timeZoneId);
    return moment?.text(format ?? unquoted(argument));
  };

/** The filters that can follow `|` in a template. */
export const filters: Readonly<Record<string, Filter>> = {
  date: dated('date'),
  iso: dated('iso'),
  local: dated('local'),
  offset: dated('offset'),
  epoch: dated('epoch'),
  epoch_ms: dated('epoch_ms'),
  dotnet: dated('dotnet'),
  http: dated('http'),
  /** `format: YYYYMMDD` */
  format: dated(),
  /** `in: UTC`: the same instant in another time zone. */
  in: (value, argument, { now }) => {
    const moment = value instanceof Moment ? value : readMoment(text(value), now.at.timeZoneId);
    return moment === undefined ? undefined : new Moment(moment.at.withTimeZone(unquoted(argument)), false);
  },
  /** `default: x`: the given default if there is no value. */
  default: (value, argument) => value ?? unquoted(argument),
  /** `join: ,`: joins a list's items; an empty list has no value. */
  join: (value, argument) => {
    const items = [value].flat();
    return items.length === 0 ? undefined : items.map(text).join(unquoted(argument));
  },
  number: (value) => Number(text(value)),
  text,
  upper: (value) => text(value).toUpperCase(),
  lower: (value) => text(value).toLowerCase(),
  /** Percent-encodes the value for use as a path segment. */
  url: (value) => encodeURIComponent(text(value)),
  json: (value) => JSON.stringify(value),
  /** ASCII-only JSON, for headers. */
  ascii_json: (value) =>
    JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  /** Puts the value in single quotes for query languages, and escapes special characters with backslashes. */
  quoted: (value) => `'${text(value).replaceAll(/[\\']/g, '\\$&')}'`,
  xml: (value) => text(value).replaceAll(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`),
  base64: (value) => Buffer.from(text(value), 'utf8').toString('base64'),
};
