import { option } from '../option.ts';
import { recordFormats, recordOptions } from './options.ts';

/** The formats of a whole file. */
export const fileFormats = [...recordFormats, 'xlsx'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** The `query` options that all connectors for whole files share. */
export const fileOptions = {
  ...recordOptions,
  format: option.choice(fileFormats, {
    about: 'Format of the data. Default: detected by the file name extension.',
    example: 'csv',
  }),
  sheet: option.text({
    about: 'xlsx: name of the sheet to read. Default: the first visible sheet.',
    example: 'Orders',
  }),
  member: option.text({
    about: 'zip: name or glob of the members to read. Default: all members except hidden files.',
    example: '**/*.csv',
  }),
  path_column: option.text({
    about: 'Adds a first column with this name and the path of the file of each row.',
    example: 'file',
  }),
  modified_column: option.text({
    about: 'Adds a column in front with this name and the modification time of the file.',
    example: 'modified_at',
  }),
};
