import {
  afterDeliveryOptions,
  changedFilesOptions,
  fileOptions,
  minAgeOption,
  type OptionValues,
  option,
  pathOptions,
} from '#sdk';

export const source = {
  folder: option.text({
    about: 'Folder that query paths are relative to. Default: the config file’s folder.',
    example: '/var/exports',
  }),
};

export const query = {
  ...pathOptions,
  ...changedFilesOptions,
  ...minAgeOption,
  ...afterDeliveryOptions,
  ...fileOptions,
};

export type FileQueryValues = OptionValues<typeof query>;
