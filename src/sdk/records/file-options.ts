import { option } from '../option.ts';
import { recordFormats, recordOptions } from './options.ts';

/** The formats of a whole file. */
export const fileFormats = [...recordFormats, 'xlsx'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** The `query` options shared by all connectors that read whole files. */
export const fileOptions = {
  ...recordOptions,
  format: option.choice(fileFormats, {
    about: 'Format of the data. Default: detected from the file name extension.',
    example: 'csv',
  }),
  sheet: option.schema<string | number | undefined>(
    {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'integer', minimum: 1 },
      ],
    },
    {
      about:
        'xlsx: name of the sheet to read, a pattern with `*` and `?` that matches only one visible sheet, or the position among the visible sheets, from 1. Default: the first visible sheet.',
      example: 'Orders',
    },
  ),
  member: option.text({
    about: 'zip, tar: name or glob of the members to read. Default: all members except hidden files.',
    example: '**/*.csv',
  }),
  path_column: option.text({
    about: 'Adds a leading column with this name, which contains the path of the file that the row is from.',
    example: 'file',
  }),
  modified_column: option.text({
    about:
      'Adds a leading column with this name, which contains the modification time of the file that the row is from.',
    example: 'modified_at',
  }),
};
