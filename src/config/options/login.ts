import type { Connector } from '../../sdk/connector.ts';
import type { GrantKind } from '../../sdk/oauth.ts';
import { type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import { variable } from './field.ts';
import { sourceOptions } from './source.ts';

/** Default redirect URI, which points to this machine. */
export const defaultRedirect = 'http://127.0.0.1:47419/callback';

const grants = ['authorization_code', 'client_credentials', 'jwt_bearer', 'password'] as const satisfies GrantKind[];

/** The login options of a source. They're the same for every connector that uses OAuth. */
export const loginOptions = {
  name: option.text({
    about: "Name of the login. Default: the source's name. Sources with the same login name share one login.",
    example: 'acme-google',
  }),
  client_id: option.text({
    about: 'ID of the app that you registered with the vendor; for a service account, the issuer of its tokens.',
    example: '0123456789-abc.apps.example.com',
  }),
  client_secret: option.text({
    about: "The app's secret.",
    secret: true,
    example: variable('CLIENT_SECRET'),
  }),
  grant: option.choice(grants, {
    about:
      'How to get tokens: through a person in a browser, as the app itself, as a service account with a signed assertion, or with a user and password. Default: derived from the other options.',
  }),
  scopes: option.schema<readonly string[] | undefined>(
    { type: 'array', items: { type: 'string', minLength: 1 } },
    {
      about: "Scopes to request instead of the connector's own list; `[]` requests none.",
      example: ['crm.objects.contacts.read'],
    },
  ),
  redirect_uri: option.text({
    about:
      'Redirect URI, registered with the vendor in exactly this form. On 127.0.0.1 or localhost, `sluice login` listens there.',
    default: defaultRedirect,
  }),
  account_file: option.text({
    about: 'JSON key file of a service account, relative to this file.',
    example: 'service-account.json',
  }),
  private_key: option.text({
    about: `Private key (PEM) that signs assertions if there is no account file; \`$\{file:PATH}\` reads it from a file.`,
    secret: true,
  }),
  key_id: option.text({
    about: 'ID of the private key, if the vendor requires one; sent as `kid` in the header of assertions.',
    example: 'key-2026',
  }),
  subject: option.text({
    about: 'User that a service account acts for, if the vendor requires one.',
    example: 'me@example.com',
  }),
  username: option.text({ about: 'User for the `password` grant.', example: 'me@example.com' }),
  password: option.text({
    about: 'Password for the `password` grant.',
    secret: true,
    example: variable('VENDOR_PASSWORD'),
  }),
} satisfies OptionSet;

const login = option.schema<Record<string, unknown> | undefined>(schemaOf(loginOptions), {
  about: 'OAuth login of this source. `sluice login SOURCE` gets the tokens.',
});

/**
 * All source options for this connector: the connector's own, the common ones and, if the connector uses OAuth, the
 * login options.
 */
export function optionsOfSource(connector: Connector): OptionSet {
  return { ...sourceOptions, ...(connector.oauth === undefined ? {} : { login }), ...connector.source };
}
