import { formats } from '../../formats/index.ts';
import { type OptionSet, option } from '../../sdk/option.ts';
import { groups } from './field.ts';
import { serviceId, serviceIds } from './service-id.ts';

const name = { type: 'string', minLength: 1 } as const;

/** The formats that the service's data sources support. */
export const datasourceFormats = formats.filter((format) => format.isForDatasources).map(({ id }) => id);

/** Exactly one of the first two options must be set. */
export const shareOptions = {
  group: option.schema<string | undefined>(name, { about: 'ID of the group to share with.' }),
  user: option.schema<string | undefined>(name, { about: 'ID of the user to share with.' }),
  can_edit: option.boolean({ about: 'Allow editing as well as viewing.', default: false }),
} satisfies OptionSet;

/** A data source that `sluice apply` creates and keeps in sync with its declaration. */
export const datasourceOptions = {
  name: option.schema<string>(name, { required: true, about: 'Name of the data source.', example: 'Orders' }),
  description: option.text({
    about: 'Description of the data source.',
    default: '',
    example: 'Orders of the last 90 days',
  }),
  format: option.choice(datasourceFormats, { about: "Data format. Default: the job's format." }),
  shares: groups(shareOptions, {
    about: 'Groups and users to share the data source with.',
    example: [{ group: '0123456789abcdef0123456789abcdef', can_edit: false }],
  }),
} satisfies OptionSet;

/** The name that messages use for an instance ID. */
export const instanceWords = 'data-source instance';

/** Exactly one of the first three options must be set. */
export const targetOptions = {
  instance: serviceId(
    instanceWords,
    option.schema<string | undefined>(name, {
      about: 'ID of the data source instance to write.',
      example: '0123456789abcdef0123456789abcdef',
    }),
  ),
  datasource: option.schema<Record<string, unknown> | undefined>(
    { type: 'object' },
    { about: 'A data source that `sluice apply` creates; the job then writes its instance.' },
  ),
  refresh: serviceIds(
    'data source',
    option.schema<readonly string[] | undefined>(
      { type: 'array', items: name, minItems: 1, uniqueItems: true },
      {
        about: 'IDs of data sources for the service to refresh; the job extracts no rows.',
        example: ['0123456789abcdef0123456789abcdef'],
      },
    ),
  ),
  client_id: serviceId(
    'client account',
    option.text({
      about: "Client account to write to instead of the destination's.",
      example: '0123456789abcdef0123456789abcdef',
    }),
  ),
} satisfies OptionSet;
