import type { Connector } from '../sdk/connector.ts';
import type { GrantKind } from '../sdk/oauth.ts';
import { type OptionSet, option, schemaOf } from '../sdk/option.ts';
import { sourceOptions, variable } from './settings.ts';

/** Where a person's browser comes back to, unless a login says otherwise: this very machine. */
export const usualRedirect = 'http://127.0.0.1:47419/callback';

const grants = ['authorization_code', 'client_credentials', 'jwt_bearer', 'password'] as const satisfies GrantKind[];

/** What a source says about its login, for every connector that logs in by OAuth. */
export const loginOptions = {
  name: option.text({
    about:
      'Name that the tokens are kept under; by default that of the source. Sources with the same name share one login.',
    example: 'acme-google',
  }),
  client_id: option.text({
    about: 'Id of the app that you registered with the vendor; for a service account, what its tokens are issued by.',
    example: '0123456789-abc.apps.example.com',
  }),
  client_secret: option.text({
    about: 'Secret of that app.',
    secret: true,
    example: variable('CLIENT_SECRET'),
  }),
  grant: option.choice(grants, {
    about:
      'How tokens are got: by a person in a browser, by the app itself, by a signed service account, by user and password. By default what fits the other options.',
  }),
  scopes: option.schema<readonly string[] | undefined>(
    { type: 'array', items: { type: 'string', minLength: 1 } },
    {
      about: "What is asked for, instead of the connector's own list; `[]` asks for none.",
      example: ['crm.objects.contacts.read'],
    },
  ),
  redirect_uri: option.text({
    about:
      'Where the browser comes back to; it has to stand in the app at the vendor in exactly this form. On 127.0.0.1 or localhost `sluice login` listens there itself.',
    default: usualRedirect,
  }),
  account_file: option.text({
    about: 'Key file of a service account (JSON), as the vendor gives it out. Relative to this file.',
    example: 'service-account.json',
  }),
  private_key: option.text({
    about: `Private key (PEM) that assertions are signed with, where there is no account file; \`$\{file:PATH}\` reads one.`,
    secret: true,
  }),
  subject: option.text({
    about: 'The user that a service account acts for, where the vendor wants one.',
    example: 'me@example.com',
  }),
  username: option.text({ about: 'User of the grant `password`.', example: 'me@example.com' }),
  password: option.text({
    about: 'Password of the grant `password`.',
    secret: true,
    example: variable('VENDOR_PASSWORD'),
  }),
} satisfies OptionSet;

const login = option.schema<Record<string, unknown> | undefined>(schemaOf(loginOptions), {
  about: 'How this source logs in by OAuth. `sluice login SOURCE` then gets the tokens.',
});

/** Everything that may stand in a source of this connector: its own options, ours, and the login where it has one. */
export function optionsOfSource(connector: Connector): OptionSet {
  return { ...sourceOptions, ...(connector.oauth === undefined ? {} : { login }), ...connector.source };
}
