import { type OptionSet, option } from '../../sdk/option.ts';
import { budgetDestinationOptions } from './budget.ts';
import { group, readAs, seconds, variable } from './field.ts';
import { nonEmpty } from './names.ts';
import { serviceId } from './service-id.ts';
import { readServiceUrl } from './service-url.ts';

/** The service's upload limit in bytes. */
export const serviceUploadLimit = 10 * 1024 * 1024;

/** A destination's options. */
export const destinationOptions = {
  url: readAs(
    option.text({
      required: true,
      about: 'Base URL of the service, including the API version.',
      example: 'https://app.example.com/api/1.0',
    }),
    { read: readServiceUrl },
  ),
  api_key: option.text({
    secret: true,
    about: 'API key. Set either this or `basic`.',
    example: variable('SLUICE_API_KEY'),
  }),
  basic: group(
    {
      user: option.schema<string>(nonEmpty, { required: true, about: 'E-mail address of the user.' }),
      password: option.schema<string>(nonEmpty, { required: true, secret: true, about: 'Password of the user.' }),
    },
    {
      about: 'User and password. Set either this or `api_key`.',
      example: { user: 'me@example.com', password: variable('SLUICE_PASSWORD') },
    },
  ),
  client_id: serviceId(
    'client account',
    option.text({
      about: 'Client account to write to, unless a target sets another.',
      example: '0123456789abcdef0123456789abcdef',
    }),
  ),
  account: option.text({
    about:
      'Name of the quota account. Destinations with the same account share their limits. Default: destinations with the same URL and the same key or user share an account. If you replace the key, the requests already used today still count.',
    example: 'agency',
  }),
  ...budgetDestinationOptions,
  upload_limit_bytes: option.integer({
    minimum: 1,
    default: serviceUploadLimit,
    about:
      "Maximum payload size in bytes. If a payload is larger, the run fails before any data is sent. The service's limit is 10 MB.",
  }),
  timeout_seconds: seconds(
    option.integer({ minimum: 1, maximum: 86_400, default: 60, about: 'Request timeout in seconds.' }),
  ),
  attempts: option.integer({
    minimum: 1,
    maximum: 1000,
    default: 8,
    about:
      'Number of failed attempts after which a payload is marked dead if the service accepts other payloads. If the service fails for all payloads or is unreachable, Sluice keeps retrying.',
  }),
} satisfies OptionSet;
