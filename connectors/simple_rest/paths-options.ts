import { option } from '#sdk';
import { text } from './schemas.ts';

/** A path with the same kind of records as the others, and the value that says which path a record came from. */
export interface NamedPath {
  readonly path: string;
  readonly name?: string;
}

const path = { ...text, minLength: 1 };

/** The options `paths` and `path_column` of a query. */
export const pathsOptions = {
  paths: option.schema<readonly (string | NamedPath)[] | undefined>(
    {
      type: 'array',
      minItems: 1,
      items: {
        anyOf: [
          path,
          { type: 'object', additionalProperties: false, required: ['path'], properties: { path, name: text } },
        ],
      },
    },
    {
      about:
        'Several paths instead of `path`, which are read one after another with the same options. The result has the records of all of them.',
      example: ['/eu/orders', { path: '/us/orders', name: 'us' }],
    },
  ),
  path_column: option.text({
    about: 'Column for the name of the path that a record came from, or for the path itself if it has no name.',
    example: 'region',
  }),
};
