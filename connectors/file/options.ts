import { afterDeliveryOptions, changedFilesOptions, fileOptions, type OptionValues, option } from '#sdk';

export const source = {
  folder: option.text({
    about: 'Folder that query paths are relative to. Default: the config file’s folder.',
    example: '/var/exports',
  }),
};

export const query = {
  path: option.text({
    about: 'Path of the file, or a glob for several files with the same columns. Gzip and zip are recognized.',
    example: 'orders-*.csv.gz',
    required: true,
  }),
  ...changedFilesOptions,
  ...afterDeliveryOptions,
  ...fileOptions,
};

export type FileQueryValues = OptionValues<typeof query>;
