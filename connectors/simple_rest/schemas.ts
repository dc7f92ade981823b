/** Any text. */
export const text = { type: 'string' };

/** A map with a `kind` and no other words than these. */
export const closed = (properties: object) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind'],
  properties,
});
