import { boundOf, Moment, recordFaults, templateFault } from '#sdk';
import { answerFaults } from './answers.ts';
import { authFaults } from './auth.ts';
import { forEachFaults } from './for-each-faults.ts';
import { hmacFault } from './hmac-signer.ts';
import { incrementalFaults } from './incremental-faults.ts';
import { tokenPathFault } from './login-of.ts';
import type { OptionFault } from './option-fault.ts';
import type { RestQuery, RestSource } from './options.ts';
import { isCounted, pageFactOf } from './paging.ts';
import { pagingFaults } from './paging-faults.ts';
import { pathsFaults } from './paths.ts';
import { missingFact, reportFaults } from './report.ts';
import { holdsCredentials, parametersOf } from './request.ts';

/** Checks whether the options of the source and the query can be combined. */
export function optionFaults(source: RestSource, query: RestQuery | undefined): OptionFault[] {
  const { auth } = source;
  const messages = [...authFaults(auth), hmacFault(auth), tokenPathFault(auth)].filter(
    (message) => message !== undefined,
  );
  const faults = messages.map((message) => ({ option: 'auth', message }));
  return query === undefined ? faults : [...faults, ...addressFaults(source, query), ...queryFaults(query, source)];
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

function queryFaults(query: RestQuery, { url }: Pick<RestSource, 'url'>): OptionFault[] {
  const faults: OptionFault[] = [
    ...recordFaults(query),
    ...pagingFaults(query),
    ...templateFaults(query),
    ...windowFaults(query),
    ...conditionFaults(query),
    ...incrementalFaults(
      query,
      [...templated, 'paths' as const, 'report' as const].map((option) => query[option]),
    ),
    ...forEachFaults(query, { url, faultsOf: (parents) => queryFaults(parents, { url }) }),
    ...answerFaults(query.answers),
    ...pathsFaults(query, new Set(outerNames(query))),
    ...reportOptionFaults(query),
    ...resumeFaults(query),
  ];
  const isNew = ({ option }: OptionFault) => !faults.some((known) => known.option === option);
  faults.push(...memberFaults(query).filter(isNew));
  const body = query.body === undefined ? (query.form === undefined ? undefined : 'form') : 'body';
  if (body !== undefined && /^(?:get|head)$/i.test(query.method)) {
    faults.push({ option: body, message: `cannot be sent with ${query.method.toUpperCase()}; set \`method: POST\`` });
  }
  if (query.body !== undefined && query.form !== undefined) {
    faults.push({ option: 'form', message: 'cannot be combined with `body`; set one of them' });
  }
  try {
    parametersOf(query.parameters);
  } catch (error) {
    faults.push({ option: 'parameters', message: (error as Error).message });
  }
  return faults;
}

const templated = ['path', 'endpoint_url', 'parameters', 'body', 'form', 'paging'] as const;

/** The names that a run sets before it requests a page. */
function outerNames({ window, cursor, for_each }: RestQuery): string[] {
  const dates = [...(window === undefined ? [] : ['window']), ...(cursor === undefined ? [] : ['since', 'until'])];
  return for_each === undefined ? dates : [...dates, 'parent'];
}

function reportOptionFaults(query: RestQuery): OptionFault[] {
  const { report, conditional } = query;
  if (report === undefined) return [];
  const kept = [...Object.keys(report.start.keep), ...Object.keys(report.poll.keep ?? {})];
  const requests = templated.map((option) => query[option]);
  const faults = reportFaults(report, new Set([...outerNames(query), ...(query.paths === undefined ? [] : ['each'])]));
  const fault = faults[0] ?? missingFact(JSON.stringify(requests), kept);
  if (conditional) return [{ option: 'report', message: 'cannot be combined with `conditional`' }];
  return fault === undefined ? [] : [{ option: 'report', message: fault }];
}

function resumeFaults({ resume, paging, conditional, window, paths, for_each }: RestQuery): OptionFault[] {
  const { kind, next_request: next } = paging;
  const isOnePage = kind === 'none' && (window ?? paths ?? for_each) === undefined;
  const rules: [isBroken: boolean, message: string][] = [
    [
      isCounted(paging),
      `cannot be used with paging of kind ${kind}, because records may move to other pages before the next attempt`,
    ],
    [isOnePage || conditional, 'has no effect, because the query has only one page'],
    [
      !/^get$/i.test(next?.method ?? 'GET'),
      'requires the method GET in `next_request`, because the server may keep the position itself',
    ],
  ];
  const message = rules.find(([isBroken]) => isBroken)?.[1];
  return resume && message !== undefined ? [{ option: 'resume', message }] : [];
}

function templateFaults(query: RestQuery): OptionFault[] {
  const names = new Set(['page', ...outerNames(query), ...(query.report === undefined ? [] : ['report'])]);
  return templated.flatMap((option) => {
    const fault = templateFault(query[option], names);
    return fault === undefined
      ? []
      : [
          {
            option,
            message: `${fault}; allowed names include page, window, now and today, with cursor since and until, and with for_each parent`,
          },
        ];
  });
}

/** Without this check, a part of the request with a misspelled name would be omitted, and more data would be read. */
function memberFaults(query: RestQuery): OptionFault[] {
  const { kind } = query.paging;
  const fact = pageFactOf(query.paging);
  const members = { page: fact === undefined ? [] : [fact], window: ['from', 'to'] };
  return [...templated, 'paths' as const, 'report' as const].flatMap((option) => {
    const used = JSON.stringify(query[option] ?? '').matchAll(/\{\{\s*(page|window)\.(\w+)/g);
    const unknown = used.find(([, name, member]) => !members[name as keyof typeof members].includes(member!));
    if (unknown === undefined) return [];
    const [, name, member] = unknown;
    const allowed = members[name as keyof typeof members].map((one) => `{{ ${name}.${one} }}`).join(', ');
    const hint = name === 'page' ? ` with paging of kind ${kind}` : '';
    const message = `contains {{ ${name}.${member} }}, which has no value${hint}; allowed: ${allowed || 'none'}`;
    return [{ option, message }];
  });
}

function windowFaults(query: RestQuery): OptionFault[] {
  const { window, cursor } = query;
  if (window === undefined) return [];
  if ((window.start === undefined) !== (cursor !== undefined)) {
    const message =
      cursor === undefined ? 'requires `start`' : 'cannot have a `start` with `cursor`; set the `start` of the query';
    return [{ option: 'window', message }];
  }
  const now = new Moment(Temporal.Now.zonedDateTimeISO('UTC'), false);
  try {
    boundOf('start_date', { now, start_date: window.start });
    boundOf('end_date', { now, end_date: window.end });
  } catch (error) {
    return [{ option: 'window', message: (error as Error).message.replace(/`(start|end)_date`/, '`$1`') }];
  }
  const isUsed = [...templated, 'paths' as const, 'report' as const].some((option) =>
    /\{\{[^}]*\bwindow\./.test(JSON.stringify(query[option] ?? '')),
  );
  return isUsed || cursor !== undefined
    ? []
    : [{ option: 'window', message: 'is not used: put `{{ window.from }}` into the request' }];
}

function conditionFaults({ conditional, paging, window }: RestQuery): OptionFault[] {
  const isOne = paging.kind === 'none' && window === undefined;
  return conditional && !isOne ? [{ option: 'conditional', message: 'requires a single-page response' }] : [];
}
