import { fileOptions, type OptionValues, option } from '#sdk';

export const source = {
  folder: option.text({
    about: 'Folder that the paths of the queries are meant from. The folder of the config file when absent.',
    example: '/var/exports',
  }),
};

export const query = {
  path: option.text({
    about: 'Path of the file, or a glob for several files of the same columns. Gzip and zip are recognised.',
    example: 'orders-*.csv.gz',
    required: true,
  }),
  files: option.choice(['all', 'newest', 'changed'], {
    default: 'all',
    about:
      'Which of the files that match: all, the one that was modified last, or those that are new or modified since the last run.',
  }),
  look_back_seconds: option.integer({
    minimum: 0,
    default: 3600,
    about:
      'files: changed; how much older than the newest file one may be that arrives late. Files read already are not read again.',
  }),
  ...fileOptions,
};

export type QueryValues = OptionValues<typeof query>;
