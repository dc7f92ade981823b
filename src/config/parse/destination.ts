import { createHash } from 'node:crypto';
import { isMap } from '../../lib/is-map.ts';
import { registerSecret } from '../../lib/redact.ts';
import { type OptionValues, schemaOf, withDefaults } from '../../sdk/option.ts';
import type { Credentials, Destination } from '../config.ts';
import { destinationOptions, serviceUploadLimit, variable } from '../options/settings.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import type { Part } from '../text/variables.ts';
import type { LoadContext, LoadResult } from './context.ts';
import { type Member, openMember } from './member.ts';
import { checkId } from './service-id.ts';
import { optionPath, validatePart } from './validate.ts';

type Values = OptionValues<typeof destinationOptions>;

export async function loadDestination(member: Member, context: LoadContext): Promise<LoadResult<Destination>> {
  const { name, faults } = member;
  const part = await openMember(member, context);
  registerSecrets(part, destinationOptions);
  validatePart(part, { schema: schemaOf(destinationOptions), noun: 'destination', faults });
  if (!isMap(part.value)) return { problems: faults.problems };

  const given = part.value;
  const url = checkUrl(given.url, part, faults);
  const credentials = checkCredentials(given, part, faults);
  checkLimits(given, part, faults);
  checkClient(given.client_id, part, faults);
  if (faults.problems.length > 0 || url === undefined || credentials === undefined)
    return { problems: faults.problems };
  const values = withDefaults(destinationOptions, given);
  return { value: destinationOf(name, { url, credentials, values }), problems: [] };
}

function destinationOf(
  name: string,
  { url, credentials, values }: { url: string; credentials: Credentials; values: Values },
): Destination {
  return {
    name,
    url,
    credentials,
    account: values.account ?? accountOf(url, credentials),
    clientId: values.client_id,
    requestsPerSecond: values.requests_per_second,
    requestsPerDay: values.requests_per_day,
    reserveRequests: values.reserve_requests,
    whenShort: values.when_short,
    askUsage: values.ask_usage,
    uploadLimitBytes: values.upload_limit_bytes,
    timeoutMs: values.timeout_seconds * 1000,
    attempts: values.attempts,
  };
}

/** Stands in the state and in logs, so it must not give the credentials away: a password could be guessed by its hash. */
function accountOf(url: string, credentials: Credentials): string {
  const who = credentials.kind === 'api_key' ? ['key', credentials.key] : ['basic', credentials.user];
  return createHash('sha256')
    .update(JSON.stringify([url, ...who]))
    .digest('hex')
    .slice(0, 32);
}

const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** An address with neither credentials nor the values of a query, in which some have an API key. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//…@').replace(/[?#].*$/s, (rest) => `${rest[0]}…`);
}

function checkUrl(text: unknown, part: Part, faults: Faults): string | undefined {
  const path = optionPath(part, 'url');
  if (typeof text !== 'string' || part.broken.has(path)) return undefined;
  const form = {
    path,
    seen: JSON.stringify(withoutSecrets(text)),
    allowed: 'a URL such as https://app.example.com/api/1.0',
  };
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    faults.add({ code: 'CONFIG_URL', message: 'Invalid service URL: it must start with http:// or https://', ...form });
    return undefined;
  }
  if (url.username !== '' || url.password !== '') {
    faults.add({
      code: 'CONFIG_URL',
      message: "Don't put credentials in the service URL",
      path,
      next: 'Remove them from the URL and use api_key or basic instead',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    faults.add({
      code: 'CONFIG_URL',
      message: 'Invalid service URL: it must not have a query or a fragment',
      ...form,
    });
  }
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  if (!/\/\d+(\.\d+)?$/.test(address)) {
    faults.add({
      code: 'CONFIG_URL',
      message: 'Invalid service URL: it must end with the API version',
      ...form,
      next: `Did you mean "${address}/api/1.0"?`,
    });
  }
  if (url.protocol === 'http:' && !isLocal.test(url.hostname)) {
    faults.warn({
      code: 'CONFIG_URL_PLAIN',
      message: 'Credentials are sent unencrypted over the network',
      ...form,
      next:
        url.port === ''
          ? `Use https://${url.host}${url.pathname}`
          : 'Use https, with the port that the service has for it',
    });
  }
  return address;
}

type Given = Readonly<Record<string, unknown>>;

function checkCredentials({ api_key, basic }: Given, part: Part, faults: Faults): Credentials | undefined {
  const at = { path: optionPath(part, 'api_key') };
  if (api_key !== undefined && basic !== undefined) {
    const next = 'Delete one of the two';
    faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: 'Conflicting credentials: this destination has both api_key and basic',
      ...at,
      on: 'key',
      next,
    });
    return undefined;
  }
  if (isMap(basic)) return basicOf(String(basic.user), String(basic.password));
  if (api_key === undefined && basic === undefined) {
    // A misspelled option is what is wrong then, and it is reported already.
    if (faults.problems.some(({ code }) => code === 'CONFIG_UNKNOWN_OPTION')) return undefined;
    const next = `Add a line: api_key: ${variable('SLUICE_API_KEY')}`;
    faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: 'Missing credentials: this destination has neither api_key nor basic',
      path: part.path,
      on: 'key',
      next,
    });
    return undefined;
  }
  if (typeof api_key !== 'string' || part.broken.has(at.path)) return undefined;
  if (api_key === '' || /[^\x21-\x7e]/.test(api_key)) {
    const message = api_key === '' ? 'The api_key is empty' : 'The api_key contains spaces or invalid characters';
    faults.add({ code: 'CONFIG_CREDENTIALS', message, ...at, next: 'Copy it again, without spaces or line breaks' });
    return undefined;
  }
  return { kind: 'api_key', key: api_key };
}

/** On the wire the two go together in base64, which shows nothing of the password by itself. */
function basicOf(user: string, password: string): Credentials {
  registerSecret(`${user}:${password}`);
  return { kind: 'basic', user, password };
}

function checkClient(client: unknown, part: Part, faults: Faults): void {
  const path = optionPath(part, 'client_id');
  if (typeof client === 'string' && !part.broken.has(path)) checkId(client, { path, what: 'client account', faults });
}

function checkLimits(given: Given, part: Part, faults: Faults): void {
  const {
    reserve_requests: reserve,
    requests_per_day: day,
    upload_limit_bytes: upload,
  } = withDefaults(destinationOptions, given);
  if (typeof reserve === 'number' && typeof day === 'number' && reserve >= day) {
    faults.add({
      code: 'CONFIG_LIMITS',
      message: 'The reserve leaves no requests for scheduled work',
      path: optionPath(part, 'reserve_requests'),
      seen: `${reserve} of ${day} requests a day`,
      allowed: `less than ${day}`,
    });
  }
  if (typeof upload === 'number' && upload > serviceUploadLimit) {
    faults.warn({
      code: 'CONFIG_LIMITS',
      message: 'The service refuses uploads larger than 10 MB unless configured otherwise',
      path: optionPath(part, 'upload_limit_bytes'),
      seen: String(upload),
      allowed: `up to ${serviceUploadLimit}`,
    });
  }
}
