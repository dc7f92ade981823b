import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { HttpAnswer } from '../../lib/http.ts';
import { isMap } from '../../lib/is-map.ts';
import { registerSecret } from '../../lib/redact.ts';
import { withoutSlash } from '../../lib/without-slash.ts';
import { type OptionValues, option } from '../../sdk/option.ts';
import { exactFields } from '../exact-fields.ts';
import { Grant } from '../grant.ts';
import { answerText, refusalOf, refusedSecret, secretProblem } from '../problems.ts';
import { defineSecretProvider, type SecretContent, type SecretContext } from '../provider.ts';

const title = 'Vault';

const options = {
  address: option.text({
    about: 'Address of the server. Default: the environment variable VAULT_ADDR.',
    example: 'https://vault.example.com:8200',
  }),
  namespace: option.text({ about: 'Namespace. Default: VAULT_NAMESPACE, or none.', example: 'team-a' }),
  token: option.text({
    secret: true,
    about: 'Token. Default: VAULT_TOKEN, or the file ~/.vault-token.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable in the config
    example: '${file:/run/secrets/vault-token}',
  }),
  role_id: option.text({ about: 'Role ID for an AppRole login. Default: VAULT_ROLE_ID.' }),
  secret_id: option.text({
    secret: true,
    about: 'Secret ID for an AppRole login. Default: VAULT_SECRET_ID.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable in the config
    example: '${file:/run/secrets/vault-secret-id}',
  }),
  kubernetes_role: option.text({ about: "Role for a login with a Kubernetes pod's service account." }),
  kubernetes_token_file: option.text({
    about: "File with the service account's token.",
    default: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  }),
  login_mount: option.text({
    about: 'Mount path of the auth method. Default: `approle` or `kubernetes`.',
    example: 'approle-sluice',
  }),
};

type VaultOptions = OptionValues<typeof options>;

/** HashiCorp Vault and OpenBao: the key/value secrets engine, versions 1 and 2. */
export default defineSecretProvider({
  title,
  form: 'PATH#FIELD',
  about: 'a field of a key/value secret (version 1 or 2), with the same path as for `vault kv get`',
  options,
  open(given, context) {
    const server = new VaultServer(given, context);
    return (path) => server.read(path);
  },
});

/** A mounted secrets engine. `path` ends with a slash. */
interface Mount {
  readonly path: string;
  readonly version: number;
}

class VaultServer {
  readonly #given: VaultOptions;
  readonly #context: SecretContext;
  readonly #token = new Grant(() => this.#logIn());
  readonly #mounts = new Map<string, Promise<Mount>>();

  constructor(given: VaultOptions, context: SecretContext) {
    this.#given = given;
    this.#context = context;
  }

  async read(path: string): Promise<SecretContent> {
    const plain = path.replace(/^\/+|\/+$/g, '');
    const mount = await this.#mountOf(plain);
    const rest = plain.slice(mount.path.length);
    const address = `${mount.path}${mount.version === 2 ? 'data/' : ''}${rest}`;
    const answer = await this.#ask(address);
    const { data } = fieldsOf(answer);
    const fields = mount.version === 2 && isMap(data) ? data.data : data;
    if (answer.status === 200 && isMap(fields)) return fields;
    throw refusal(answer, plain, { address, ...mount });
  }

  /**
   * Finds a path's mount in the same way as the `vault` command. Paths with the same first segment usually share a
   * mount.
   */
  async #mountOf(path: string): Promise<Mount> {
    const first = path.split('/', 1)[0]!;
    const known = this.#mounts.get(first) ?? this.#findMount(path);
    this.#mounts.set(first, known);
    const mount = await known;
    return path.startsWith(mount.path) ? mount : this.#findMount(path);
  }

  async #findMount(path: string): Promise<Mount> {
    const { status, text } = await this.#ask(`sys/internal/ui/mounts/${path}`);
    const { data } = status === 200 ? (exactFields(text) ?? {}) : {};
    const { path: found, options: about } = isMap(data) ? data : {};
    // If the token may not see the mount, assumes a new server's default: version 2, mounted at the first segment.
    if (typeof found !== 'string') return { path: `${path.split('/', 1)[0]}/`, version: 2 };
    return { path: found, version: isMap(about) && String(about.version) === '2' ? 2 : 1 };
  }

  #ask(path: string): Promise<HttpAnswer> {
    // Vault sends the same response for an expired token as for a missing permission.
    return this.#token.use(
      (token) => this.#send('GET', path, { 'x-vault-token': token }),
      ({ status }) => status === 403,
    );
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<HttpAnswer> {
    const url = `${this.#address()}/v1/${path.split('/').map(encodeURIComponent).join('/')}`;
    const namespace = this.#given.namespace ?? this.#context.env.VAULT_NAMESPACE ?? '';
    const request = {
      ...{ title, method },
      headers: {
        'x-vault-request': 'true',
        ...(namespace === '' ? {} : { 'x-vault-namespace': namespace }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const answer = await this.#context.client.call({ ...request, url });
    const { location } = answer.headers;
    // A standby node that doesn't forward requests returns the address of the active node.
    if (answer.status !== 307 || location === undefined) return answer;
    return this.#context.client.call({ ...request, url: new URL(location, url).href });
  }

  #address(): string {
    const written = this.#given.address ?? this.#context.env.VAULT_ADDR ?? '';
    const url = URL.parse(written);
    if (url !== null && /^https?:$/.test(url.protocol)) return withoutSlash(url.href);
    throw secretProblem('CONFIG_SECRET_SETTINGS', {
      message: written === '' ? 'The address of Vault is not set' : 'The address of Vault is not a URL',
      ...(written === '' ? {} : { seen: written }),
      allowed: 'http://… or https://…',
      next: 'set the environment variable VAULT_ADDR, or secrets.vault.address in the config',
    });
  }

  async #logIn(): Promise<string> {
    const { env } = this.#context;
    // A missing address is reported first.
    this.#address();
    const { kubernetes_role: role, login_mount: mount } = this.#given;
    const roleId = this.#given.role_id ?? (this.#given.token === undefined ? env.VAULT_ROLE_ID : undefined);
    if (role !== undefined) {
      const jwt = await this.#tokenFile();
      registerSecret(jwt);
      return this.#exchange(mount ?? 'kubernetes', { role, jwt });
    }
    if (roleId !== undefined) {
      const secretId = this.#given.secret_id ?? env.VAULT_SECRET_ID ?? '';
      registerSecret(secretId);
      return this.#exchange(mount ?? 'approle', { role_id: roleId, secret_id: secretId });
    }
    const token = this.#given.token ?? env.VAULT_TOKEN ?? (await ownTokenFile(env.HOME));
    if (token === undefined || token === '') {
      throw secretProblem('CONFIG_SECRET_SETTINGS', {
        message: 'No credentials are set for Vault',
        allowed: 'a token, an AppRole (role_id and secret_id), or a kubernetes_role',
        next: 'set the environment variable VAULT_TOKEN, or credentials in secrets.vault of the config',
      });
    }
    registerSecret(token);
    return token;
  }

  async #exchange(mount: string, login: object): Promise<string> {
    const answer = await this.#send('POST', `auth/${mount}/login`, {}, login);
    const { auth } = fieldsOf(answer);
    const token = isMap(auth) ? auth.client_token : undefined;
    if (answer.status === 200 && typeof token === 'string') {
      registerSecret(token);
      return token;
    }
    throw secretProblem('CONFIG_SECRET_DENIED', {
      message: `Vault refused the login at auth/${mount}`,
      seen: seenIn(answer),
      next: 'check the role and its secret, and secrets.vault.login_mount in the config',
    });
  }

  async #tokenFile(): Promise<string> {
    const file = this.#given.kubernetes_token_file;
    try {
      return (await readFile(file, 'utf8')).trim();
    } catch (cause) {
      throw secretProblem('CONFIG_SECRET_SETTINGS', {
        message: 'The token file of the Kubernetes service account cannot be read',
        seen: `${file}: ${(cause as NodeJS.ErrnoException).code ?? 'unreadable'}`,
        next: 'run in a pod with a service account, or set kubernetes_token_file',
        cause,
      });
    }
  }
}

async function ownTokenFile(home = homedir()): Promise<string | undefined> {
  return (await readFile(join(home, '.vault-token'), 'utf8').catch(() => '')).trim();
}

function fieldsOf({ text }: HttpAnswer): { readonly [field: string]: unknown } {
  return exactFields(text) ?? {};
}

/** The response's status and Vault's own error messages. */
function seenIn(answer: HttpAnswer): string {
  const { errors } = fieldsOf(answer);
  const named = Array.isArray(errors) ? errors.filter((one) => typeof one === 'string').join('; ') : '';
  return answerText(answer.status, '', named);
}

function refusal(answer: HttpAnswer, path: string, { address, version }: Mount & { readonly address: string }): Error {
  const kind = refusalOf(answer.status);
  const check = `check the secret with: vault kv get ${path}`;
  const hint = version === 2 && path.includes('/data/') ? '; omit data/ from the path' : '';
  return refusedSecret(kind, {
    ...{ provider: 'Vault', name: path },
    seen: kind === 'CONFIG_SECRET_MISSING' ? `${seenIn(answer)} (${address})` : seenIn(answer),
    advice: {
      CONFIG_SECRET_MISSING: { next: `${check}${hint}` },
      CONFIG_SECRET_DENIED: {
        allowed: `a valid token whose policy has the "read" capability for ${address}`,
        next: 'check the token (vault token lookup) and its policy',
      },
      CONFIG_SECRET_UNAVAILABLE: { next: check },
    },
  });
}
