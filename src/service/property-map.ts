import { Type } from 'typebox';
import { propertyNames } from './http/fields.ts';

const text = Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()], {
  'x-rule': 'must be a string of at most 10000 characters',
});

/**
 * The values of a user's or client's properties, by name. All values are strings. A null value is ignored, like any
 * null field.
 */
export const textProperties = Type.Record(Type.String(), text, { propertyNames });

/** Returns the properties that a request body sets. */
export function propertiesGiven(
  properties: Readonly<Record<string, string | null>>,
): { name: string; value: string }[] {
  return Object.entries(properties).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
}
