import type { HttpAnswer } from '../../lib/http.ts';
import { isMap } from '../../lib/is-map.ts';
import { registerSecret } from '../../lib/redact.ts';
import { withoutSlash } from '../../lib/without-slash.ts';
import { type OptionValues, option } from '../../sdk/option.ts';
import { exactFields } from '../exact-fields.ts';
import { Grant } from '../grant.ts';
import { grantToken } from '../oauth-grant.ts';
import { answerText, refusalOf, refusedSecret, secretProblem } from '../problems.ts';
import { defineSecretProvider, type SecretContent, type SecretContext } from '../provider.ts';
import type { SecretRequest } from '../secrets-client.ts';

const title = 'Azure Key Vault';
const apiVersion = '7.4';

const options = {
  url: option.text({
    about: 'Address of the vault. Default: AZURE_KEYVAULT_URL.',
    example: 'https://acme.vault.azure.net',
  }),
  tenant_id: option.text({ about: 'Tenant ID of an app. Default: AZURE_TENANT_ID.' }),
  client_id: option.text({
    about: 'Client ID of an app or of a user-assigned managed identity. Default: AZURE_CLIENT_ID.',
  }),
  client_secret: option.text({
    secret: true,
    about: "Client secret of an app. Default: AZURE_CLIENT_SECRET, or the machine's managed identity.",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable in the config
    example: '${file:/run/secrets/azure}',
  }),
  authority: option.text({
    about: 'Address that issues tokens. Default: AZURE_AUTHORITY_HOST, or the address for the public cloud.',
    example: 'https://login.microsoftonline.us',
  }),
};

type AzureOptions = OptionValues<typeof options>;

/** Azure Key Vault, with an app (client credentials) or a managed identity. */
export default defineSecretProvider({
  title,
  form: 'NAME',
  about:
    'the latest version of a secret; `NAME/VERSION` or a full identifier works too, and `#FIELD` selects a field of a JSON value',
  options,
  open(given, context) {
    const vault = new KeyVault(given, context);
    return (name) => vault.read(name);
  },
});

class KeyVault {
  readonly #given: AzureOptions;
  readonly #context: SecretContext;
  /** Tokens by vault address, because a token is valid for only one cloud. */
  readonly #tokens = new Map<string, Grant<string>>();

  constructor(given: AzureOptions, context: SecretContext) {
    this.#given = given;
    this.#context = context;
  }

  async read(name: string): Promise<SecretContent> {
    const { origin, path } = this.#addressOf(name);
    const token = this.#tokens.get(origin) ?? new Grant(() => this.#logIn(resourceOf(origin)));
    this.#tokens.set(origin, token);
    const url = `${origin}${path}?api-version=${apiVersion}`;
    const answer = await token.use(
      (bearer) =>
        this.#context.client.call({ title, method: 'GET', url, headers: { authorization: `Bearer ${bearer}` } }),
      ({ status }) => status === 401,
    );
    const { value } = exactFields(answer.text) ?? {};
    if (answer.status === 200 && typeof value === 'string') return value;
    throw refusal(answer, name);
  }

  #addressOf(name: string): { origin: string; path: string } {
    const full = /^https?:/.test(name) ? URL.parse(name) : null;
    if (full !== null) return { origin: full.origin, path: withoutSlash(full.pathname) };
    const written = this.#given.url ?? this.#context.env.AZURE_KEYVAULT_URL ?? '';
    const url = URL.parse(written);
    if (url !== null && /^https?:$/.test(url.protocol)) {
      return { origin: url.origin, path: `/secrets/${name.split('/').map(encodeURIComponent).join('/')}` };
    }
    throw secretProblem('CONFIG_SECRET_SETTINGS', {
      message: `The address of the key vault is ${written === '' ? 'not set' : 'not a URL'}`,
      ...(written === '' ? {} : { seen: written }),
      allowed: 'https://NAME.vault.azure.net',
      next: 'set the environment variable AZURE_KEYVAULT_URL, or secrets.azure-kv.url in the config',
    });
  }

  #logIn(resource: string): Promise<string> {
    const { env } = this.#context;
    const clientId = this.#given.client_id ?? env.AZURE_CLIENT_ID;
    const clientSecret = this.#given.client_secret ?? env.AZURE_CLIENT_SECRET;
    const tenant = this.#given.tenant_id ?? env.AZURE_TENANT_ID;
    if (clientSecret === undefined) return this.#machineToken(resource, clientId);
    registerSecret(clientSecret);
    if (clientId === undefined || tenant === undefined) {
      throw secretProblem('CONFIG_SECRET_SETTINGS', {
        message: "The key vault's login is incomplete",
        seen: `client_secret without ${clientId === undefined ? 'client_id' : 'tenant_id'}`,
        next: 'set tenant_id, client_id and client_secret in secrets.azure-kv, or AZURE_TENANT_ID and AZURE_CLIENT_ID',
      });
    }
    const authority = this.#given.authority ?? env.AZURE_AUTHORITY_HOST ?? 'https://login.microsoftonline.com';
    const tokenUrl = `${withoutSlash(authority)}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
    const scope = `${resource}/.default`;
    return grantToken({ title, grant: 'client_credentials', clientId, clientSecret, tokenUrl, scope }, this.#context);
  }

  /** A managed identity's token, issued by App Service (or a similar service) or by the virtual machine. */
  async #machineToken(resource: string, clientId: string | undefined): Promise<string> {
    const { env, client } = this.#context;
    const query = new URLSearchParams({ resource, ...(clientId === undefined ? {} : { client_id: clientId }) });
    const { IDENTITY_ENDPOINT: service, IDENTITY_HEADER: header = '' } = env;
    const machine = `${env.AZURE_POD_IDENTITY_AUTHORITY_HOST ?? 'http://169.254.169.254'}/metadata/identity/oauth2/token`;
    if (header !== '') registerSecret(header);
    const request: Pick<SecretRequest, 'url' | 'headers' | 'isOptional'> =
      service === undefined
        ? { url: `${machine}?api-version=2018-02-01&${query}`, headers: { metadata: 'true' }, isOptional: true }
        : { url: `${service}?api-version=2019-08-01&${query}`, headers: { 'x-identity-header': header } };
    const answer = await client.call({ title, method: 'GET', ...request }).catch((cause: Error) => {
      if (service !== undefined) throw cause;
      throw noLogin('no managed identity', cause);
    });
    const token = exactFields(answer.text)?.access_token;
    if (answer.status !== 200 || typeof token !== 'string') throw noLogin(`status ${answer.status}`);
    registerSecret(token);
    return token;
  }
}

/** The resource to request tokens for. A token is valid for all vaults in a cloud: `https://vault.azure.net`. */
function resourceOf(origin: string): string {
  const { hostname } = new URL(origin);
  const cloud = /\.(vault\..+)$/.exec(hostname)?.[1];
  return `https://${cloud ?? 'vault.azure.net'}`;
}

function noLogin(seen: string, cause?: Error): Error {
  return secretProblem('CONFIG_SECRET_SETTINGS', {
    message: 'No credentials are set for Azure Key Vault',
    seen,
    allowed: 'an app (tenant_id, client_id, client_secret), or a machine with a managed identity',
    next: 'set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or assign an identity to the machine',
    cause,
  });
}

function refusal({ status, text }: HttpAnswer, name: string): Error {
  const { error } = exactFields(text) ?? {};
  const { code, message } = isMap(error) ? error : {};
  return refusedSecret(refusalOf(status), {
    ...{ provider: 'The key vault', name, seen: answerText(status, code, message) },
    advice: {
      CONFIG_SECRET_MISSING: { next: 'check the name of the secret: az keyvault secret list' },
      CONFIG_SECRET_DENIED: {
        allowed:
          'the "Key Vault Secrets User" role or an access policy with the "get" permission, and an enabled secret',
        next: "grant the role or permission to the app or identity, and check the vault's firewall",
      },
      CONFIG_SECRET_UNAVAILABLE: { next: "check the vault's name and address" },
    },
  });
}
