import { createHash } from 'node:crypto';
import { isMap } from '../../lib/is-map.ts';
import { registerSecret } from '../../lib/redact.ts';
import { schemaOf } from '../../sdk/option.ts';
import type { Credentials, Destination } from '../config.ts';
import { destinationOptions, serviceUploadLimit } from '../options/destination.ts';
import { isComplete, readOptions, type Values, variable } from '../options/field.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import { type Part, partAt } from '../text/variables.ts';
import type { LoadContext, LoadResult } from './context.ts';
import { type Member, openMember } from './member.ts';
import { resolveAgain, uncollected } from './renew-secrets.ts';
import { validatePart } from './validate.ts';

type Given = Partial<Values<typeof destinationOptions>>;

export async function loadDestination(member: Member, context: LoadContext): Promise<LoadResult<Destination>> {
  const { name, faults } = member;
  const part = await openMember(member, context);
  registerSecrets(part, destinationOptions);
  validatePart(part, { schema: schemaOf(destinationOptions), noun: 'destination', faults });
  if (!isMap(part.value)) return { problems: faults.problems };

  const values = readOptions(destinationOptions, part, faults);
  const credentials = checkCredentials(values, part, faults);
  checkLimits(values, part, faults);
  if (faults.problems.length > 0 || !isComplete(destinationOptions, values) || credentials === undefined)
    return { problems: faults.problems };
  const { apiKey: _, basic: __, ...rest } = values;
  const account = values.account ?? accountOf(values.url, credentials);
  const renewed = renewalOf(part, member, context);
  return { value: { ...rest, name, credentials, account, ...renewed }, problems: [] };
}

/**
 * Returns `renew`, which rereads the credentials and updates the destination in place, because its jobs share the
 * destination object. Returns an empty object if the credentials can't change.
 */
function renewalOf(part: Part, member: Member, context: LoadContext): Pick<Destination, 'renew'> {
  const again = resolveAgain(part, { member, context });
  if (again === undefined) return {};
  const renew = async (destination: { credentials: Credentials }): Promise<void> => {
    const fresh = await again();
    if (!isMap(fresh?.value)) return;
    registerSecrets(fresh, destinationOptions);
    const faults = uncollected();
    const credentials = checkCredentials(readOptions(destinationOptions, fresh, faults), fresh, faults);
    if (credentials !== undefined && faults.isEmpty()) destination.credentials = credentials;
  };
  return { renew };
}

/**
 * The account's ID appears in the state and in logs, so it must not reveal the credentials. If it were a hash that
 * includes the password, an attacker could test password guesses against it.
 */
function accountOf(url: string, credentials: Credentials): string {
  const who = credentials.kind === 'api_key' ? ['key', credentials.key] : ['basic', credentials.user];
  return createHash('sha256')
    .update(JSON.stringify([url, ...who]))
    .digest('hex')
    .slice(0, 32);
}

function checkCredentials({ apiKey, basic }: Given, part: Part, faults: Faults): Credentials | undefined {
  const at = { path: partAt(part, 'api_key').path };
  const isWritten = (name: string): boolean => partAt(part, name).value !== undefined;
  if (isWritten('api_key') && isWritten('basic')) {
    const next = 'delete one of the two';
    return faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: 'Conflicting credentials: this destination has both api_key and basic',
      ...at,
      on: 'key',
      next,
    });
  }
  if (basic !== undefined) return basicOf(basic);
  if (!isWritten('api_key') && !isWritten('basic')) {
    // The likely cause is a misspelled option, which validation has already reported.
    if (faults.problems.some(({ code }) => code === 'CONFIG_UNKNOWN_OPTION')) return undefined;
    const next = `add a line: api_key: ${variable('SLUICE_API_KEY')}`;
    return faults.add({
      code: 'CONFIG_CREDENTIALS',
      message: 'Missing credentials: this destination has neither api_key nor basic',
      path: part.path,
      on: 'key',
      next,
    });
  }
  if (apiKey === undefined || part.broken.has(at.path)) return undefined;
  if (apiKey === '' || /[^\x21-\x7e]/.test(apiKey)) {
    const message = apiKey === '' ? 'The api_key is empty' : 'The api_key contains spaces or invalid characters';
    faults.add({ code: 'CONFIG_CREDENTIALS', message, ...at, next: 'copy it again, without spaces or line breaks' });
    return undefined;
  }
  return { kind: 'api_key', key: apiKey };
}

/**
 * Requests contain the user and the password as one base64 string. The password itself doesn't occur in that string, so
 * register the string as a secret too.
 */
function basicOf({ user, password }: NonNullable<Given['basic']>): Credentials {
  registerSecret(`${user}:${password}`);
  return { kind: 'basic', user, password };
}

function checkLimits(values: Given, part: Part, faults: Faults): void {
  const { reserveRequests: reserve = 0, requestsPerDay: day = Infinity, uploadLimitBytes: upload = 0 } = values;
  if (reserve >= day) {
    faults.add({
      code: 'CONFIG_LIMITS',
      message: 'The reserve leaves no requests for scheduled work',
      path: partAt(part, 'reserve_requests').path,
      seen: `${reserve} of ${day} requests a day`,
      allowed: `less than ${day}`,
    });
  }
  if (upload > serviceUploadLimit) {
    faults.warn({
      code: 'CONFIG_LIMITS',
      message: 'The service rejects uploads larger than 10 MB unless it is configured otherwise',
      path: partAt(part, 'upload_limit_bytes').path,
      seen: String(upload),
      allowed: `up to ${serviceUploadLimit}`,
    });
  }
}
