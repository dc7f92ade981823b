import { Problem } from '../../lib/problem.ts';
import { excerpt } from '../../lib/redact.ts';
import { shownUrl } from '../http/problems.ts';
import type { AnswerPath } from './answer.ts';
import { textOf } from './exact-json.ts';

/** A paging error. `at` is undefined for the Link header. */
export type PageFault =
  | { readonly kind: 'missing'; readonly at: AnswerPath | undefined; readonly hasSeen: boolean }
  | { readonly kind: 'no way'; readonly at: AnswerPath | undefined }
  | { readonly kind: 'no key'; readonly at: AnswerPath; readonly value: unknown }
  | { readonly kind: 'link' | 'token'; readonly at: AnswerPath | undefined; readonly value: unknown }
  | { readonly kind: 'flag'; readonly name: 'more' | 'last' | 'empty'; readonly at: AnswerPath }
  | {
      readonly kind: 'count';
      readonly name: 'total' | 'pages';
      readonly at: AnswerPath | undefined;
      readonly value: unknown;
    }
  | { readonly kind: 'unreported'; readonly name: 'total' | 'pages'; readonly at: AnswerPath }
  | { readonly kind: 'short'; readonly what: 'records' | 'pages'; readonly seen: number; readonly reported: number };

interface Context {
  readonly title: string;
  readonly places: 'option' | 'vendor';
  readonly url: URL;
  /** The value on the page. */
  readonly seen: string;
}

/** A location in a response, as shown in messages. */
export function placeText(at: AnswerPath | undefined): string {
  if (at === undefined) return 'the Link header';
  if (typeof at === 'string') return `\`${at}\``;
  if (Array.isArray(at)) return `\`${at.join('.')}\``;
  if ('place' in at) return `\`${at.place.text}\``;
  if ('last_record' in at) return placeText(at.last_record as string | readonly string[]);
  return `the ${(at as { header: string }).header} header`;
}

/** The problem if it's unknown whether more pages follow. The run then sends no data to the dashboard. */
export function pageProblem(fault: PageFault, context: Context): Problem {
  const { title, places, url } = context;
  const isOption = places === 'option';
  const { code, message, seen, allowed, next } = words(fault, context);
  return new Problem({
    code: `${isOption ? 'REST' : 'SERVICE'}_${code}`,
    family: 'job',
    message: `${message} (${shownUrl(url)})`,
    seen,
    allowed,
    next: isOption
      ? next
      : `run the job again; if this persists, ${title} has changed its paging, so report this as a bug; no data was sent`,
  });
}

interface Words {
  readonly code: string;
  readonly message: string;
  readonly seen: string;
  readonly allowed?: string;
  readonly next: string;
}

const lastPage = 'null, false or an empty string on the last page';

function words(fault: PageFault, { title, seen }: Context): Words {
  switch (fault.kind) {
    case 'missing':
      return missing(fault, seen);
    case 'no way':
      return {
        code: 'NO_WAY_ON',
        message: `${title} reported more records, but ${placeText(fault.at)} contains no next page`,
        seen,
        next: 'compare `paging` with a response from the server; no data was sent',
      };
    case 'no key':
      return {
        code: 'NO_WAY_ON',
        message: `The last record has no value at ${placeText(fault.at)}, so the next page is unknown`,
        seen:
          fault.value === undefined
            ? seen
            : `${fault.value === '' ? 'an empty string' : (textOf(fault.value) ?? 'null')}; ${seen}`,
        allowed: 'a string or a number in every record',
        next: 'correct `paging.cursor`, and sort the records by a key that is never null; no data was sent',
      };
    case 'link':
    case 'token':
      return {
        code: 'NO_WAY_ON',
        message: `The next page at ${placeText(fault.at)} is not ${fault.kind === 'link' ? 'a URL' : 'a cursor'}`,
        seen: excerpt(textOf(fault.value) ?? '', 120),
        allowed: `${fault.kind === 'link' ? 'an http or https URL' : 'a string or a number'}, or ${lastPage}`,
        next: 'set `paging` to the path of the string itself, such as `next.href`; no data was sent',
      };
    case 'flag':
      return {
        code: 'PAGE_FLAG',
        message: `The response does not indicate whether there are more pages: ${placeText(fault.at)} is missing`,
        seen,
        allowed: 'true or false on every page',
        next: `correct \`paging.${fault.name}\`, or remove it if the server does not always include it; no data was sent`,
      };
    case 'count':
      return {
        code: 'TOTAL',
        message: `The total number of ${fault.name === 'total' ? 'records' : 'pages'} at ${placeText(fault.at)} is not a number`,
        seen: excerpt(textOf(fault.value) ?? '', 120),
        next: `correct \`paging.${fault.name}\`, or remove it; no data was sent`,
      };
    case 'unreported':
      return {
        code: 'TOTAL',
        message: `No response contains the total number of ${fault.name === 'total' ? 'records' : 'pages'}: ${placeText(fault.at)} is missing`,
        seen,
        next: `correct \`paging.${fault.name}\`, or remove it; no data was sent`,
      };
    case 'short':
      return {
        code: 'PAGES_SHORT',
        message: `${title} reported ${fault.reported} ${fault.what} in total, but its pages contain ${fault.seen}`,
        seen: `${fault.seen} of ${fault.reported}`,
        allowed: String(fault.reported),
        next: 'run the job again; if this persists, compare `paging` with a response from the server; if the total is not exact, set `paging: {total: {path: …, estimate: true}}`',
      };
  }
}

function missing({ at, hasSeen }: Extract<PageFault, { kind: 'missing' }>, seen: string): Words {
  const isHeader = at === undefined;
  const place = isHeader ? 'the Link header' : placeText(at);
  return {
    code: 'NO_WAY_ON',
    message: hasSeen
      ? `The location of the next page, ${place}, is missing from a response with as many records as the others`
      : `The location of the next page, ${place}, is missing from all responses`,
    seen,
    allowed: isHeader ? 'a Link header' : `the next page, or ${lastPage}`,
    next: `correct \`paging\`; if the server omits ${isHeader ? 'the header' : 'it'} on the last page, set \`paging: {missing: end}\`; if there is only one page, remove \`paging\``,
  };
}
