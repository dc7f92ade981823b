import { readFile } from 'node:fs/promises';
import { registerSecret, retireSecret } from '../lib/redact.ts';
import { withoutSlash } from '../lib/without-slash.ts';
import { awsUrl } from './aws-url.ts';
import { exactFields } from './exact-fields.ts';
import { secretProblem } from './problems.ts';
import type { SecretContext } from './provider.ts';
import type { SecretRequest } from './secrets-client.ts';

/** Credentials of an AWS request. */
export interface AwsLogin {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When temporary credentials expire, in epoch milliseconds. Undefined if they don't, or if that isn't known. */
  readonly expiresAt?: number;
  /** The token with which they were obtained, such as a web identity. */
  readonly proof?: string;
}

const title = 'AWS';

/**
 * Looks for credentials in the same order as AWS's own tools: environment variables, web identity, container role, then
 * machine role (IMDSv2).
 */
export async function awsLogin(context: SecretContext): Promise<AwsLogin> {
  const { env } = context;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: token } = env;
  if (id && key)
    return registered({ accessKeyId: id, secretAccessKey: key, ...(token ? { sessionToken: token } : {}) });
  if (env.AWS_WEB_IDENTITY_TOKEN_FILE && env.AWS_ROLE_ARN) return webIdentity(context);
  const full = env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  if (full || relative) return containerRole(full || `http://169.254.170.2${relative}`, context);
  return machineRole(context);
}

/** Exchanges a Kubernetes cluster's token for credentials (EKS and others). */
async function webIdentity({ env, client }: SecretContext): Promise<AwsLogin> {
  const token = await fileText(env.AWS_WEB_IDENTITY_TOKEN_FILE!);
  registerSecret(token);
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  const own = env.AWS_ENDPOINT_URL_STS || env.AWS_ENDPOINT_URL;
  const url = own || (region ? awsUrl('sts', region) : 'https://sts.amazonaws.com');
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: env.AWS_ROLE_ARN!,
    RoleSessionName: env.AWS_ROLE_SESSION_NAME || 'sluice',
    WebIdentityToken: token,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status, text } = await client.call({
    title,
    method: 'POST',
    url: `${withoutSlash(url)}/`,
    headers,
    body,
  });
  // The response is XML, whose values contain only base64 characters, so no entities need to be decoded.
  const tag = (name: string): string | undefined => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1];
  const [id, key, session] = [tag('AccessKeyId'), tag('SecretAccessKey'), tag('SessionToken')];
  if (status === 200 && id && key && session) {
    const login = { accessKeyId: id, secretAccessKey: key, sessionToken: session, proof: token };
    return registered({ ...login, ...expiryOf(tag('Expiration')) });
  }
  const seen = [`status ${status}`, tag('Code')].filter(Boolean).join(': ');
  throw secretProblem('CONFIG_SECRET_DENIED', {
    message: 'AWS refused the web identity of this process',
    seen,
    next: 'check AWS_ROLE_ARN and the trust policy of the role',
  });
}

async function containerRole(url: string, { env, client }: SecretContext): Promise<AwsLogin> {
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const token = file ? await fileText(file) : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  if (token) registerSecret(token);
  const headers: Record<string, string> = token ? { authorization: token } : {};
  const { status, text } = await client.call({ title, method: 'GET', url, headers });
  const login = credentialsIn(text, `status ${status} from the container's credentials endpoint`);
  return token ? { ...login, proof: token } : login;
}

/**
 * An EC2 machine's role credentials, from the machine's metadata service (version 2, which requires a session token).
 */
async function machineRole({ env, client }: SecretContext): Promise<AwsLogin> {
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') throw noLogin('AWS_EC2_METADATA_DISABLED=true');
  const base = withoutSlash(env.AWS_EC2_METADATA_SERVICE_ENDPOINT || 'http://169.254.169.254');
  const ask = async (request: Pick<SecretRequest, 'method' | 'headers'> & { path: string }): Promise<string> => {
    const { path, ...rest } = request;
    const call = client.call({ title, url: `${base}/latest/${path}`, isOptional: true, ...rest });
    const { status, text } = await call.catch((error: Error) => {
      // The service responded, so this machine has one.
      if (error.cause === undefined) throw error;
      throw noLogin('no metadata service', error);
    });
    if (status !== 200) throw noLogin(`status ${status} from ${path}`);
    return text.trim();
  };
  const ttl = { 'x-aws-ec2-metadata-token-ttl-seconds': '300' };
  const session = await ask({ method: 'PUT', path: 'api/token', headers: ttl });
  registerSecret(session);
  const headers = { 'x-aws-ec2-metadata-token': session };
  const roles = 'meta-data/iam/security-credentials/';
  const [role = ''] = (await ask({ method: 'GET', path: roles, headers })).split('\n');
  const text = await ask({ method: 'GET', path: `${roles}${role.trim()}`, headers });
  return { ...credentialsIn(text, `role ${role}`), proof: session };
}

function credentialsIn(text: string, seen: string): AwsLogin {
  const { AccessKeyId: id, SecretAccessKey: key, Token: token, Expiration: until } = exactFields(text) ?? {};
  if (typeof id !== 'string' || typeof key !== 'string' || typeof token !== 'string') throw noLogin(seen);
  return registered({ accessKeyId: id, secretAccessKey: key, sessionToken: token, ...expiryOf(until) });
}

function expiryOf(written: unknown): Pick<AwsLogin, 'expiresAt'> {
  const expiresAt = typeof written === 'string' ? Date.parse(written) : Number.NaN;
  return Number.isNaN(expiresAt) ? {} : { expiresAt };
}

function registered(login: AwsLogin): AwsLogin {
  for (const secret of secretsOf(login)) registerSecret(secret);
  return login;
}

/** Removes the secrets of credentials that are no longer used, except those that the `used` ones contain too. */
export function retireLogin(login: AwsLogin, used: readonly AwsLogin[]): void {
  const kept = new Set(used.flatMap(secretsOf));
  for (const secret of secretsOf(login)) if (!kept.has(secret)) retireSecret(secret);
}

function secretsOf({ secretAccessKey, sessionToken, proof }: AwsLogin): string[] {
  return [secretAccessKey, sessionToken, proof].filter((secret) => secret !== undefined);
}

async function fileText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw noLogin(`${file}: ${(cause as NodeJS.ErrnoException).code ?? 'unreadable'}`, cause as Error);
  }
}

function noLogin(seen: string, cause?: Error): Error {
  return secretProblem('CONFIG_SECRET_SETTINGS', {
    message: 'No AWS credentials were found',
    seen,
    allowed: 'environment variables, a web identity, or a role of the container or machine',
    next: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or assign a role to the machine',
    cause,
  });
}
