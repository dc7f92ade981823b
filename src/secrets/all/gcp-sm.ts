import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
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

const title = 'Google Secret Manager';

const options = {
  project: option.text({
    about: "Project ID. Default: GOOGLE_CLOUD_PROJECT, the account file's project, or the machine's project.",
    example: 'acme-data',
  }),
  account_file: option.text({
    about: "Key file of a service account. Default: GOOGLE_APPLICATION_CREDENTIALS, or the machine's service account.",
    example: '/etc/sluice/google.json',
  }),
  endpoint: option.text({
    about: 'API address, for example a regional endpoint.',
    default: 'https://secretmanager.googleapis.com',
  }),
};

type GoogleOptions = OptionValues<typeof options>;

/** Google Secret Manager. Logs in with a service account's key file or as the machine's service account. */
export default defineSecretProvider({
  title,
  form: 'NAME',
  about:
    'the latest version of a secret; `NAME/VERSION` or a full resource name works too, and `#FIELD` selects a field of a JSON value',
  options,
  open(given, context) {
    const manager = new SecretManager(given, context);
    return (name) => manager.read(name);
  },
});

class SecretManager {
  readonly #given: GoogleOptions;
  readonly #context: SecretContext;
  readonly #token = new Grant(() => this.#logIn());
  #account: Promise<{ readonly [field: string]: unknown }> | undefined;

  constructor(given: GoogleOptions, context: SecretContext) {
    this.#given = given;
    this.#context = context;
  }

  async read(name: string): Promise<SecretContent> {
    const resource = await this.#resourceOf(name);
    const url = `${withoutSlash(this.#given.endpoint)}/v1/${resource}:access`;
    const { client } = this.#context;
    const answer = await this.#token.use(
      (token) => client.call({ title, method: 'GET', url, headers: { authorization: `Bearer ${token}` } }),
      ({ status }) => status === 401,
    );
    const { payload } = exactFields(answer.text) ?? {};
    const data = isMap(payload) ? payload.data : undefined;
    if (answer.status === 200 && typeof data === 'string') return Buffer.from(data, 'base64').toString('utf8');
    throw refusal(answer, resource);
  }

  /** A secret version's resource name: `projects/P/secrets/NAME/versions/N`. */
  async #resourceOf(name: string): Promise<string> {
    if (name.startsWith('projects/')) return name.includes('/versions/') ? name : `${name}/versions/latest`;
    const [secret, version = 'latest'] = name.split('/');
    return `projects/${await this.#project()}/secrets/${encodeURIComponent(secret!)}/versions/${version}`;
  }

  async #project(): Promise<string> {
    const { env } = this.#context;
    const named = this.#given.project ?? env.GOOGLE_CLOUD_PROJECT ?? (await this.#accountFields())?.project_id;
    if (typeof named === 'string') return named;
    const { status, text } = await this.#metadata('project/project-id');
    if (status !== 200) throw noLogin(`status ${status} for the project ID request`);
    return text.trim();
  }

  #accountPath(): string | undefined {
    const { cwd, env } = this.#context;
    const path = this.#given.account_file ?? (env.GOOGLE_APPLICATION_CREDENTIALS || undefined);
    return path === undefined ? undefined : resolve(cwd, path);
  }

  #accountFields(): Promise<{ readonly [field: string]: unknown }> | undefined {
    const path = this.#accountPath();
    if (path !== undefined) this.#account ??= readAccount(path);
    return this.#account;
  }

  async #logIn(): Promise<string> {
    const fields = await this.#accountFields();
    if (fields === undefined) return this.#machineToken();
    const tokenUrl = typeof fields.token_uri === 'string' ? fields.token_uri : 'https://oauth2.googleapis.com/token';
    const scope = 'https://www.googleapis.com/auth/cloud-platform';
    const accountFile = this.#accountPath()!;
    return grantToken({ title, grant: 'jwt_bearer', clientId: '', accountFile, tokenUrl, scope }, this.#context);
  }

  async #machineToken(): Promise<string> {
    const answer = await this.#metadata('instance/service-accounts/default/token');
    const token = exactFields(answer.text)?.access_token;
    if (answer.status !== 200 || typeof token !== 'string') throw noLogin(`status ${answer.status}`);
    registerSecret(token);
    return token;
  }

  /** Calls the metadata server, which exists only on Google's machines. */
  async #metadata(path: string): Promise<HttpAnswer> {
    const host = this.#context.env.GCE_METADATA_HOST ?? 'metadata.google.internal';
    const url = `http://${host}/computeMetadata/v1/${path}`;
    const headers = { 'metadata-flavor': 'Google' };
    const call = this.#context.client.call({ title, method: 'GET', url, headers, isOptional: true });
    return call.catch((cause: Error) => {
      throw noLogin('no metadata server', cause);
    });
  }
}

async function readAccount(path: string): Promise<{ readonly [field: string]: unknown }> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw accountFault(path, cause.code ?? 'unreadable');
  });
  const fields = exactFields(text);
  if (fields === undefined) throw accountFault(path, 'not a JSON object');
  if (fields.type !== 'service_account') throw accountFault(path, `type ${String(fields.type)}`);
  return fields;
}

function accountFault(path: string, why: string): Error {
  return secretProblem('CONFIG_SECRET_SETTINGS', {
    message: 'The account file for Google Secret Manager cannot be used',
    seen: `${path}: ${why}`,
    allowed: 'the JSON key file of a service account',
    next: 'set account_file in secrets.gcp-sm, or GOOGLE_APPLICATION_CREDENTIALS',
  });
}

function noLogin(seen: string, cause?: Error): Error {
  return secretProblem('CONFIG_SECRET_SETTINGS', {
    message: 'No credentials are set for Google Secret Manager',
    seen,
    allowed: 'an account file, or a machine with a service account',
    next: 'set GOOGLE_APPLICATION_CREDENTIALS, or account_file in secrets.gcp-sm of the config',
    cause,
  });
}

function refusal({ status, text }: HttpAnswer, name: string): Error {
  const { error } = exactFields(text) ?? {};
  const { status: code, message } = isMap(error) ? error : {};
  // Google reports a disabled or destroyed version as a failed precondition.
  const kind = /precondition/i.test(String(code)) ? 'CONFIG_SECRET_MISSING' : refusalOf(status);
  return refusedSecret(kind, {
    ...{ provider: 'Google', name, seen: answerText(status, code, message) },
    advice: {
      CONFIG_SECRET_MISSING: {
        next: 'check the name of the secret, and that the version is enabled: gcloud secrets versions list',
      },
      CONFIG_SECRET_DENIED: {
        allowed: 'a service account with the roles/secretmanager.secretAccessor role',
        next: 'grant the role on the secret or the project',
      },
      CONFIG_SECRET_UNAVAILABLE: { next: 'check the name, the endpoint and the Google Cloud status page' },
    },
  });
}
