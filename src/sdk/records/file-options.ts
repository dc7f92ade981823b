import { option } from '../option.ts';
import { recordFormats, recordOptions } from './options.ts';

/** What a whole file can be. */
export const fileFormats = [...recordFormats, 'xlsx'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** The options of a job's `query` that every connector which reads whole files shares. */
export const fileOptions = {
  ...recordOptions,
  format: option.choice(fileFormats, {
    about: 'What the data is. Told by the ending of the name when absent.',
    example: 'csv',
  }),
  sheet: option.text({
    about: 'xlsx: name of the sheet to read. The first that is not hidden when absent.',
    example: 'Orders',
  }),
  member: option.text({
    about: 'zip: name or glob of the members to read. All that are no hidden files when absent.',
    example: '**/*.csv',
  }),
  path_column: option.text({
    about: 'Adds a first column of this name with the path of the file that the row stood in.',
    example: 'file',
  }),
  modified_column: option.text({
    about: 'Adds a column of this name in front with the time when that file was last modified.',
    example: 'modified_at',
  }),
};
