import { type OptionValues, option, recordOptions } from '#sdk';

export const source = {
  folder: option.text({
    about: 'Folder that the paths of the queries are meant from. The folder of the config file when absent.',
    example: '/var/exports',
  }),
};

export const query = {
  path: option.text({
    about: 'Path of the file, or a glob for several files of the same columns. Gzipped files are recognised.',
    example: 'orders-*.csv.gz',
    required: true,
  }),
  ...recordOptions,
  path_column: option.text({
    about: 'Adds a first column of this name that holds the path of the file that the row stood in.',
    example: 'file',
  }),
};

export type FileQuery = OptionValues<typeof query>;
