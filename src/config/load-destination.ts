import { createHash } from 'node:crypto';
import { type OptionValues, schemaOf, withDefaults } from '../sdk/option.ts';
import type { Credentials, Destination } from './config.ts';
import type { Faults } from './faults.ts';
import { checkId } from './ids.ts';
import type { LoadContext, Outcome } from './load.ts';
import { type Member, openMember } from './member.ts';
import { registerSecrets } from './secrets.ts';
import { destinationOptions, serviceUploadLimit } from './settings.ts';
import { optionPath, validatePart } from './validate.ts';
import type { Part } from './variables.ts';

type Values = OptionValues<typeof destinationOptions>;

export async function loadDestination(member: Member, context: LoadContext): Promise<Outcome<Destination>> {
  const { name, faults } = member;
  const part = await openMember(member, { env: context.env, ...context.top });
  registerSecrets(part, destinationOptions);
  validatePart(part, { schema: schemaOf(destinationOptions), noun: 'destination', faults });
  if (faults.problems.length > 0) return { problems: faults.problems };

  const values = withDefaults(destinationOptions, part.value as Record<string, unknown>);
  const url = checkUrl(values.url, part, faults);
  const credentials = checkCredentials(values, part, faults);
  checkLimits(values, part, faults);
  if (values.client_id !== undefined)
    checkId(values.client_id, { path: optionPath(part, 'client_id'), what: 'client account', faults });
  if (faults.problems.length > 0 || url === undefined || credentials === undefined)
    return { problems: faults.problems };
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
    ...(values.client_id === undefined ? {} : { clientId: values.client_id }),
    requestsPerSecond: values.requests_per_second,
    requestsPerDay: values.requests_per_day,
    reserveRequests: values.reserve_requests,
    uploadLimitBytes: values.upload_limit_bytes,
    timeoutMs: values.timeout_seconds * 1000,
    attempts: values.attempts,
  };
}

/** Stands in the state, so it must not give the credentials away. */
function accountOf(url: string, credentials: Credentials): string {
  const who =
    credentials.kind === 'api_key' ? ['key', credentials.key] : ['basic', credentials.user, credentials.password];
  return createHash('sha256')
    .update(JSON.stringify([url, ...who]))
    .digest('hex')
    .slice(0, 32);
}

const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function checkUrl(text: string, part: Part, faults: Faults): string | undefined {
  const path = optionPath(part, 'url');
  const form = { path, seen: JSON.stringify(text), allowed: 'an address like https://app.example.com/api/1.0' };
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    faults.add({ code: 'CONFIG_URL', message: 'The address of the service is not an http or https URL', ...form });
    return undefined;
  }
  if (url.username !== '' || url.password !== '') {
    faults.add({
      code: 'CONFIG_URL',
      message: 'Credentials do not belong into the address of the service',
      path,
      next: 'Take them out of the address and write api_key or basic beside it',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    faults.add({
      code: 'CONFIG_URL',
      message: 'The address of the service cannot have a query or a fragment',
      ...form,
    });
  }
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  if (!/\/\d+(\.\d+)?$/.test(address)) {
    faults.add({
      code: 'CONFIG_URL',
      message: 'The address of the service has to end with its version',
      ...form,
      next: `Did you mean "${address}/api/1.0"?`,
    });
  }
  if (url.protocol === 'http:' && !isLocal.test(url.hostname)) {
    faults.warn({
      code: 'CONFIG_URL_PLAIN',
      message: 'Credentials go over the network unencrypted',
      ...form,
      next: `Use https://${url.host}${url.pathname}`,
    });
  }
  return address;
}

function checkCredentials({ api_key, basic }: Values, part: Part, faults: Faults): Credentials | undefined {
  const next = 'Write api_key: ${env:SLUICE_API_KEY}, or basic with user and password';
  if (api_key !== undefined && basic !== undefined) {
    faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: 'This destination has both an api_key and basic',
      path: optionPath(part, 'basic'),
      on: 'key',
      next: 'Delete one of the two',
    });
    return undefined;
  }
  if (basic !== undefined) return { kind: 'basic', user: basic.user, password: basic.password };
  if (api_key === undefined || api_key === '') {
    const at = api_key === undefined ? { path: part.path } : { path: optionPath(part, 'api_key') };
    faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: api_key === '' ? 'The api_key is empty' : 'This destination has no credentials',
      ...at,
      on: 'key',
      next,
    });
    return undefined;
  }
  if (/[^\x21-\x7e]/.test(api_key)) {
    faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: 'The api_key has blanks or characters that no key has',
      path: optionPath(part, 'api_key'),
      next: 'Copy it again, without blanks or line breaks',
    });
    return undefined;
  }
  return { kind: 'api_key', key: api_key };
}

function checkLimits(values: Values, part: Part, faults: Faults): void {
  if (values.reserve_requests >= values.requests_per_day) {
    faults.add({
      code: 'CONFIG_LIMITS',
      message: 'The reserve leaves nothing for scheduled work',
      path: optionPath(part, 'reserve_requests'),
      seen: `${values.reserve_requests} of ${values.requests_per_day} requests a day`,
      allowed: `less than ${values.requests_per_day}`,
    });
  }
  if (values.upload_limit_bytes > serviceUploadLimit) {
    faults.warn({
      code: 'CONFIG_LIMITS',
      message: 'The service refuses data of more than 10 MB, unless yours was set up otherwise',
      path: optionPath(part, 'upload_limit_bytes'),
      seen: String(values.upload_limit_bytes),
      allowed: `up to ${serviceUploadLimit}`,
    });
  }
}
