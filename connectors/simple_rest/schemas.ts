/** Any text. */
export const text = { type: 'string' };

/** A map with a `kind` that allows only these keys. */
export const closed = (properties: object) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind'],
  properties,
});
