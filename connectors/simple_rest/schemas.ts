/** Any text. */
export const text = { type: 'string' };

/** A map that has a `kind` and only these keys. */
export const closed = (properties: object) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind'],
  properties,
});
