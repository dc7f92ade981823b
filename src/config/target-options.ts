import { type JsonSchema, type OptionSet, option } from '../sdk/option.ts';

const name = { type: 'string', minLength: 1 } as const;

const shareSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    group: { ...name, description: 'Id of the group to share with.' },
    user: { ...name, description: 'Id of the user to share with.' },
    can_edit: { type: 'boolean', default: false, description: 'May change it as well as see it.' },
  },
};

/** A data source that `sluice apply` creates and keeps as declared. */
export const datasourceOptions = {
  name: option.schema<string>(name, { required: true, about: 'Name of the data source.', example: 'Orders' }),
  description: option.text({ about: 'What it holds.', default: '', example: 'Orders of the last 90 days' }),
  format: option.choice(['csv', 'json', 'xml'], { about: "What it holds the data as; by default the job's format." }),
  shares: option.list<{ group?: string; user?: string; can_edit?: boolean }>(shareSchema, {
    about: 'Groups and users that may see it.',
    example: [{ group: '0123456789abcdef0123456789abcdef', can_edit: false }],
  }),
} satisfies OptionSet;

/** Exactly one of the first three. */
export const targetOptions = {
  instance: option.schema<string | undefined>(name, {
    about: 'Id of the data-source instance to write.',
    example: '0123456789abcdef0123456789abcdef',
  }),
  datasource: option.schema<Record<string, unknown> | undefined>(
    { type: 'object' },
    { about: 'A data source that `sluice apply` creates; the job then writes its instance.' },
  ),
  refresh: option.schema<readonly string[] | undefined>(
    { type: 'array', items: name, minItems: 1, uniqueItems: true },
    {
      about: 'Ids of data sources that the service is asked to fetch anew; the job pulls no rows.',
      example: ['0123456789abcdef0123456789abcdef'],
    },
  ),
  client_id: option.text({
    about: "Client account that this goes to, instead of the destination's.",
    example: '0123456789abcdef0123456789abcdef',
  }),
} satisfies OptionSet;
