/** Any text. */
export const text = { type: 'string' };

/** A duration. */
export const span = { type: 'string', pattern: '^[1-9]\\d*[smhd]$' };

/** A map with a `kind` that allows only these keys. */
export const closed = (properties: object) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind'],
  properties,
});
