import type { JsonSchema } from '../../sdk/option.ts';

/** Schema of a text that can't be empty. */
export const nonEmpty = { type: 'string', minLength: 1 } as const;

/**
 * Pattern for the names of destinations, sources and jobs. These names appear on command lines, in logs and in file
 * names.
 */
export const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;

/**
 * The name pattern in the editor schema. JSON Schema recommends portable patterns, which can't contain `\p{…}` because
 * Python rejects it. This pattern is therefore more permissive for non-ASCII characters.
 */
export const nameSchema: JsonSchema = {
  pattern: '^[^\\x00-/:-@\\[-`{-\\xa0][^\\x00-,/:-@\\[-\\^`{-\\xa0]{0,99}$',
  description: 'letters, digits, and - _ . after the first; at most 100',
};
