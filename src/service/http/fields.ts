import { Type } from 'typebox';
import { defineModel } from '../model.ts';

/** Schemas of fields that several resources share, and the functions that format the fields. */
export const isoTime = Type.String({ format: 'date-time' });
export const unixTime = Type.Integer({
  minimum: 0,
  maximum: 253_402_300_799,
  'x-rule': 'must be a Unix time in whole seconds',
});
export const isoTimeOrNull = Type.Union([isoTime, Type.Null()]);
/** The `date_last_refresh` field of data. Clients parse it as a time without a check. */
export const lastRefresh = Type.String({
  format: 'date-time',
  description: 'when the data last changed; the creation time until there is data',
});
export const idAndName = defineModel('Reference', { id: Type.String(), name: Type.String() });
/** The `company` field of an asset. */
export const companyName = Type.String({ description: 'name of the account' });
export const nothing = Type.Object({});

/** The `data` of an operation's response, which is the operation's name. Clients check it. */
export const requested = <Name extends string>(name: Name) => Type.Object({ op_requested: Type.Literal(name) });

export const someName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '\\S',
  'x-rule': 'must be a string of 1 to 255 characters',
});
/** An ID chosen by the client. */
export const idText = Type.String({ maxLength: 255 });
/** Part of a person's name; may be empty. */
export const shortText = Type.String({ maxLength: 255 });
export const someText = Type.String({ maxLength: 10_000 });
/** Allowed property names. A whitespace-only name couldn't be used in a path, such as to delete the property. */
export const propertyNames = { pattern: '\\S', maxLength: 255, 'x-rule': 'must have names of 1 to 255 characters' };
/** Property names with values of any type. Null values are ignored. */
export const propertyMap = Type.Record(Type.String(), Type.Unknown(), {
  propertyNames,
  'x-rule': 'must be an object whose keys have 1 to 255 characters',
});

/** Formats epoch milliseconds as ISO 8601 UTC in whole seconds, as in the vendor's examples. Null stays null. */
export function timeText(milliseconds: number | null): string | null {
  return milliseconds === null ? null : (texts.get(milliseconds) ?? newText(milliseconds));
}

/** Cached, because formatting the time takes as long as formatting the rest of an item, and the same times recur. */
const texts = new Map<number, string>();
const maxTexts = 10_000;

function newText(milliseconds: number): string {
  const text = `${new Date(milliseconds).toISOString().slice(0, -5)}Z`;
  if (texts.size >= maxTexts) texts.clear();
  texts.set(milliseconds, text);
  return text;
}
