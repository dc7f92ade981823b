import { Type } from 'typebox';
import { propertyNames } from './http/fields.ts';

const text = Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()], {
  'x-rule': 'must be a string of at most 10000 characters',
});

/** Properties of a user or client: strings by name. Null values are ignored, like all null fields. */
export const textProperties = Type.Record(Type.String(), text, { propertyNames });

/** The properties that a body sets. */
export function propertiesGiven(
  properties: Readonly<Record<string, string | null>>,
): { name: string; value: string }[] {
  return Object.entries(properties).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
}
