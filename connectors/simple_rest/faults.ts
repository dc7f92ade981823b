import { boundOf, Moment, recordFaults, templateFault } from '#sdk';
import type { Auth } from './auth.ts';
import type { RestQuery, RestSource } from './options.ts';
import { type OptionFault, pagingFaults } from './paging-faults.ts';
import { holdsCredentials, parametersOf } from './request.ts';

/** Checks whether the options of the source and the query can be combined. */
export function optionFaults(source: RestSource, query: RestQuery | undefined): OptionFault[] {
  const faults = authFaults(source.auth);
  return query === undefined ? faults : [...faults, ...addressFaults(source, query), ...queryFaults(query)];
}

const needed: Readonly<Record<Auth['kind'], readonly (keyof Auth)[]>> = {
  none: [],
  basic: ['user', 'password'],
  bearer: ['token'],
  key: ['name', 'value'],
  client_credentials: ['token_url'],
  authorization_code: ['token_url', 'authorize_url'],
  login_call: ['call', 'token_path'],
};

function authFaults(auth: Auth): OptionFault[] {
  const missing = needed[auth.kind].filter((name) => auth[name] === undefined || auth[name] === '');
  return missing.map((name) => ({ option: 'auth', message: `of kind ${auth.kind} requires ${name}` }));
}

function addressFaults(source: RestSource, { path, endpoint_url }: RestQuery): OptionFault[] {
  const { url } = source;
  if (url === undefined && endpoint_url === undefined) {
    return [{ option: 'path', message: "requires the source's `url`; set `url`, or use `endpoint_url` instead" }];
  }
  if (path !== undefined && /^https?:\/\//i.test(path)) {
    return [{ option: 'path', message: 'is a full URL; set it as `endpoint_url`' }];
  }
  if (path !== undefined && endpoint_url !== undefined) {
    return [{ option: 'endpoint_url', message: 'cannot be combined with `path`' }];
  }
  if (endpoint_url?.includes('{{') === true) return [];
  const faults = Object.entries({ url, endpoint_url })
    .filter(([, address]) => address !== undefined && !URL.canParse(address))
    .map(([option]) => ({ option, message: 'is not a valid URL' }));
  if (faults.length > 0 || url === undefined || endpoint_url === undefined || !holdsCredentials(source)) return faults;
  const isElsewhere = new URL(url).origin !== new URL(endpoint_url).origin;
  return isElsewhere
    ? [
        {
          option: 'endpoint_url',
          message: 'must have the same origin as `url`, because the credentials are only for that origin',
        },
      ]
    : [];
}

function queryFaults(query: RestQuery): OptionFault[] {
  const faults: OptionFault[] = [
    ...recordFaults(query),
    ...pagingFaults(query),
    ...templateFaults(query),
    ...windowFaults(query),
    ...conditionFaults(query),
  ];
  if (query.body !== undefined && /^(?:get|head)$/i.test(query.method)) {
    faults.push({ option: 'body', message: `cannot be sent with ${query.method.toUpperCase()}; set \`method: POST\`` });
  }
  try {
    parametersOf(query.parameters);
  } catch (error) {
    faults.push({ option: 'parameters', message: (error as Error).message });
  }
  return faults;
}

const templated = ['path', 'endpoint_url', 'parameters', 'body', 'paging'] as const;

function templateFaults(query: RestQuery): OptionFault[] {
  const names = new Set(['page', ...(query.window === undefined ? [] : ['window'])]);
  return templated.flatMap((option) => {
    const fault = templateFault(query[option], names);
    return fault === undefined
      ? []
      : [{ option, message: `${fault}; allowed names include page, window, now and today` }];
  });
}

function windowFaults(query: RestQuery): OptionFault[] {
  const { window } = query;
  if (window === undefined) return [];
  const now = new Moment(Temporal.Now.zonedDateTimeISO('UTC'), false);
  try {
    boundOf('start_date', { now, start_date: window.start });
    boundOf('end_date', { now, end_date: window.end });
  } catch (error) {
    return [{ option: 'window', message: (error as Error).message.replace(/`(start|end)_date`/, '`$1`') }];
  }
  const isUsed = templated.some((option) => /\{\{[^}]*\bwindow\./.test(JSON.stringify(query[option] ?? '')));
  return isUsed ? [] : [{ option: 'window', message: 'is not used: put `{{ window.from }}` into the request' }];
}

function conditionFaults({ conditional, paging, window }: RestQuery): OptionFault[] {
  const isOne = paging.kind === 'none' && window === undefined;
  return conditional && !isOne ? [{ option: 'conditional', message: 'requires a single-page response' }] : [];
}
