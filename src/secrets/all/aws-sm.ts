import type { HttpAnswer } from '../../lib/http.ts';
import { withoutSlash } from '../../lib/without-slash.ts';
import { type OptionValues, option } from '../../sdk/option.ts';
import type { AwsLogin } from '../aws-login.ts';
import { awsUrl } from '../aws-url.ts';
import { exactFields } from '../exact-fields.ts';
import { Grant } from '../grant.ts';
import { answerText, refusedSecret, secretProblem } from '../problems.ts';
import { defineSecretProvider, type SecretContent, type SecretContext } from '../provider.ts';

const title = 'AWS Secrets Manager';

const options = {
  region: option.text({
    about: 'AWS region. Not needed if the name is an ARN. Default: AWS_REGION or AWS_DEFAULT_REGION.',
    example: 'eu-central-1',
  }),
  endpoint: option.text({
    about:
      "API address, for example a VPC endpoint. Default: AWS_ENDPOINT_URL_SECRETS_MANAGER, or the region's endpoint.",
  }),
};

type AwsOptions = OptionValues<typeof options>;

/** AWS Secrets Manager, with credentials from the environment, the container's role or the machine's role. */
export default defineSecretProvider({
  title,
  form: 'NAME',
  about: 'the current version of a secret, by name or ARN; `NAME#FIELD` is a field of a JSON value',
  options,
  open(given, context) {
    const login = new Grant(async () => {
      // The token may be another one although the credentials are the same.
      const { proof: _, ...credentials } = await (await import('../aws-login.ts')).awsLogin(context);
      return credentials;
    });
    return (name) => read(name, { given, context, login });
  },
});

interface Reading {
  readonly given: AwsOptions;
  readonly context: SecretContext;
  readonly login: Grant<AwsLogin>;
}

async function read(name: string, { given, context, login }: Reading): Promise<SecretContent> {
  const region = regionOf(name, given, context);
  const url = endpointOf(region, given, context);
  const body = JSON.stringify({ SecretId: name });
  const send = async (credentials: AwsLogin): Promise<HttpAnswer> => {
    const { AwsV4Signer } = await import('aws4fetch');
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' };
    const datetime = new Date(context.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const request = { method: 'POST', url, headers, body, service: 'secretsmanager', region, datetime, ...credentials };
    const signed = await new AwsV4Signer(request).sign();
    const all = Object.fromEntries(signed.headers.entries());
    return context.client.call({ title, method: 'POST', url, headers: all, body, isThrottled });
  };
  const answer = await login.use(send, (refused) => expired.has(errorOf(refused).type));
  const { SecretString: text, SecretBinary: binary } = exactFields(answer.text) ?? {};
  if (answer.status === 200 && typeof text === 'string') return text;
  if (answer.status === 200 && typeof binary === 'string') return Buffer.from(binary, 'base64').toString('utf8');
  throw refusal(answer, name);
}

function regionOf(name: string, { region }: AwsOptions, { env }: SecretContext): string {
  const own = /^arn:[^:]*:secretsmanager:([^:]+):/.exec(name)?.[1];
  const known = own ?? region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION);
  if (known !== undefined && known !== '') return known;
  throw secretProblem('CONFIG_SECRET_SETTINGS', {
    message: 'No region is set for AWS Secrets Manager',
    next: 'set the environment variable AWS_REGION, or secrets.aws-sm.region in the config',
  });
}

function endpointOf(region: string, { endpoint }: AwsOptions, { env }: SecretContext): string {
  const own = endpoint ?? (env.AWS_ENDPOINT_URL_SECRETS_MANAGER || env.AWS_ENDPOINT_URL);
  return `${withoutSlash(own || awsUrl('secretsmanager', region))}/`;
}

const expired = new Set(['ExpiredTokenException', 'ExpiredToken', 'UnrecognizedClientException']);
const throttled = new Set(['ThrottlingException', 'Throttling', 'TooManyRequestsException', 'RequestLimitExceeded']);

/** AWS responds to throttled requests with status 400. */
function isThrottled(answer: HttpAnswer): boolean {
  return throttled.has(errorOf(answer).type);
}

function errorOf({ status, text, headers }: HttpAnswer): { readonly type: string; readonly message: string } {
  if (status < 400) return { type: '', message: '' };
  const fields = exactFields(text) ?? {};
  const type = String(headers['x-amzn-errortype'] ?? fields.__type ?? '');
  return { type: type.replace(/^.*#|:.*$/g, ''), message: String(fields.message ?? fields.Message ?? '') };
}

const missing = new Set(['ResourceNotFoundException', 'InvalidRequestException']);

function refusal(answer: HttpAnswer, name: string): Error {
  const { status } = answer;
  const { type, message } = errorOf(answer);
  const other = [400, 401, 403].includes(status) ? 'CONFIG_SECRET_DENIED' : 'CONFIG_SECRET_UNAVAILABLE';
  const kind = missing.has(type) ? 'CONFIG_SECRET_MISSING' : other;
  return refusedSecret(kind, {
    ...{ provider: 'AWS', name, seen: answerText(status, type, message) },
    advice: {
      CONFIG_SECRET_MISSING: { next: 'check the name and region of the secret: aws secretsmanager list-secrets' },
      CONFIG_SECRET_DENIED: {
        allowed: 'an identity with secretsmanager:GetSecretValue, and with kms:Decrypt if you use your own key',
        next: 'check the policy of the role or user: aws sts get-caller-identity',
      },
      CONFIG_SECRET_UNAVAILABLE: { next: 'check the region, the endpoint and the AWS status page' },
    },
  });
}
