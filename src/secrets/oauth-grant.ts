import { Problem } from '../lib/problem.ts';
import { registerSecret } from '../lib/redact.ts';
import { secretProblem } from './problems.ts';
import type { SecretContext } from './provider.ts';

/** Only the type is imported, because the client is loaded when the first login is needed. */
type Login = ConstructorParameters<typeof import('../oauth/token-client.ts').TokenClient>[0]['login'];

/** The provider's own login, as OAuth options. */
export interface ProviderLogin extends Pick<Login, 'grant' | 'clientId'> {
  readonly title: string;
  readonly tokenUrl: string;
  readonly scope: string;
  readonly clientSecret?: string;
  readonly accountFile?: string;
}

/**
 * Gets a token from a provider, with the same client that gets tokens for sources. The token is kept only in memory.
 */
export async function grantToken(login: ProviderLogin, context: SecretContext): Promise<string> {
  const { title, tokenUrl, scope, ...own } = login;
  const { TokenClient } = await import('../oauth/token-client.ts');
  const description = { grants: [login.grant], token_url: tokenUrl, refresh: 'none' } as const;
  const { cwd: folder, clock, client } = context;
  const full = { name: title, redirectUri: '', scopes: [scope], description, ...own } as unknown as Login;
  try {
    const { accessToken } = await new TokenClient({ login: full, folder, agent: client.agent, clock }).grantAlone();
    registerSecret(accessToken);
    return accessToken;
  } catch (cause) {
    const { message, seen } = cause as Problem;
    const isPassing = cause instanceof Problem && cause.family === 'try_later';
    throw secretProblem(isPassing ? 'CONFIG_SECRET_UNAVAILABLE' : 'CONFIG_SECRET_DENIED', {
      message: `${title} issued no token`,
      seen: seen === undefined ? message : `${message}: ${seen}`,
      next: isPassing ? 'try again later' : "check the account or app, its key and this machine's clock",
      cause,
    });
  }
}
