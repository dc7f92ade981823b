import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { advised } from '../lib/advice.ts';
import { redact } from '../lib/redact.ts';
import { durationText, instantText } from '../lib/time-text.ts';
import type { Bulletin, Detail, Mention } from './alert.ts';
import type { AlertEvent, Wrong } from './channel.ts';
import { headline, kindOf, nameOf } from './words.ts';

/** Maximum number of subjects to list by name. */
const maxNamed = 10;

export interface ComposeOptions {
  readonly now: number;
  /** Path of the config. */
  readonly file: string;
  readonly detailOf: (subject: string) => Detail | undefined;
}

/** The subjects whose details the message shows. */
export function toDescribe({ fresh, open, recovered }: Bulletin): string[] {
  const first = fresh[0] ?? open[0] ?? recovered[0];
  return first === undefined ? [] : [first.subject];
}

/** Converts a bulletin to the event that channels deliver, and redacts secrets. */
export function composeBulletin(bulletin: Bulletin, given: ComposeOptions): AlertEvent {
  const { occasion, kind, open, recovered } = bulletin;
  const title = titleOf(bulletin);
  return eventOf(kind, given, {
    title,
    text: textOf(bulletin, { title, given }),
    occasion,
    open: open.length,
    alerts: ordered(bulletin)
      .slice(0, maxNamed)
      .map((mention) => wrongOf(mention, given.detailOf(mention.subject))),
    recovered: recovered.slice(0, maxNamed).map(({ subject }) => nameOf(subject)),
  });
}

/** The event that `sluice alerts test` sends. */
export function composeTest(given: Omit<ComposeOptions, 'detailOf'>): AlertEvent {
  const title = 'this is a test';
  const lines = [
    `Sluice: ${title}`,
    '',
    'Nothing is wrong. If you can read this, alerts work.',
    '',
    fromLine(given.file),
  ];
  return eventOf('test', given, { title, text: lines.join('\n'), open: 0, alerts: [], recovered: [] });
}

type Facts = Omit<AlertEvent['data'], 'id' | 'host' | 'config'>;

function eventOf(
  kind: Bulletin['kind'] | 'test',
  { now, file }: Pick<ComposeOptions, 'now' | 'file'>,
  facts: Facts,
): AlertEvent {
  const id = `msg_${randomBytes(12).toString('hex')}`;
  const data = { id, ...facts, host: hostname(), config: file };
  const event: AlertEvent = { type: `alert.${kind}`, timestamp: new Date(now).toISOString(), data };
  return JSON.parse(redact(JSON.stringify(event))) as AlertEvent;
}

/** New conditions come first. */
function ordered({ fresh, open }: Bulletin): Mention[] {
  const first = new Set(fresh.map(({ subject }) => subject));
  return [...fresh, ...open.filter(({ subject }) => !first.has(subject))];
}

function titleOf({ occasion, kind, fresh, open, recovered }: Bulletin): string {
  const mentions = kind === 'recovered' ? recovered : kind === 'reminder' ? open : fresh;
  const names = mentions.map(({ subject }) => nameOf(subject));
  const head = headline(occasion, {
    names,
    worse: mentions.every(({ level }) => level > 1),
    over: kind === 'recovered',
  });
  if (kind === 'reminder') return `still: ${head}`;
  const rest = open.length - fresh.length;
  if (kind === 'recovered') return open.length === 0 ? head : `${head}, ${open.length} still open`;
  return rest > 0 ? `${head}, ${rest} more open` : head;
}

function textOf(bulletin: Bulletin, { title, given }: { title: string; given: ComposeOptions }): string {
  const { kind, recovered } = bulletin;
  const mentions = kind === 'recovered' ? recovered : ordered(bulletin);
  const body = mentions.length === 1 ? oneText(mentions[0]!, { kind, given }) : manyText(mentions, { kind, given });
  const also = kind === 'recovered' || recovered.length === 0 ? [] : ['', `over: ${listText(recovered)}`];
  return [`Sluice: ${title}`, '', ...body, ...also, '', fromLine(given.file)].join('\n');
}

interface Telling {
  readonly kind: Bulletin['kind'];
  readonly given: ComposeOptions;
}

function oneText(mention: Mention, { kind, given }: Telling): string[] {
  const { now, detailOf } = given;
  const { what, code, since } = mention;
  const detail = detailOf(mention.subject);
  const lasted = `${instantText(since)}, ${durationText(Math.max(0, now - since))}`;
  if (kind === 'recovered')
    return [line('was', whatText(what, code)), line('began', `${lasted} ago`), ...shownLines(detail, now)];
  return [
    line('what', whatText(what, code)),
    line('since', `${lasted} ago`),
    ...shownLines(detail, now),
    ...fixLines(detail),
  ];
}

function manyText(mentions: readonly Mention[], { kind, given }: Telling): string[] {
  const named = mentions.slice(0, maxNamed).map(({ subject, what, code, since }) => {
    const why =
      kind === 'recovered' ? `began ${instantText(since)}` : `${whatText(what, code)} (since ${instantText(since)})`;
    return `- ${nameOf(subject)}: ${why}`;
  });
  const more = mentions.length - named.length;
  const detail = given.detailOf(mentions[0]!.subject);
  const first = kind === 'recovered' || detail === undefined ? [] : ['', `details of ${nameOf(mentions[0]!.subject)}:`];
  return [
    ...named,
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...first,
    ...(first.length === 0 ? [] : [...shownLines(detail, given.now), ...fixLines(detail)]),
  ];
}

const line = (name: string, text: string): string => `${name.padEnd(10)}${text}`;
const whatText = (what: string, code: string | null): string => (code === null ? what : `${what} [${code}]`);
const fromLine = (file: string): string => line('from', `${hostname()}, ${file}`);

function shownLines(detail: Detail | undefined, now: number): string[] {
  if (detail?.shows_nothing === true) return [line('dashboard', 'shows no data from this config yet')];
  const asOf = detail?.shows_as_of;
  if (asOf === undefined) return [];
  const doubt = detail?.in_doubt === true ? ', possibly newer: it is unknown whether a later upload arrived' : '';
  const age = `${durationText(Math.max(0, now - asOf))} old`;
  return [line('dashboard', `shows data as of ${instantText(asOf)}, ${age}${doubt}`)];
}

function fixLines(detail: Detail | undefined): string[] {
  const next = detail?.next;
  const at = next?.at === undefined ? '' : `, ${instantText(next.at)}`;
  return [
    ...(next === undefined ? [] : [line('next', `${next.message}${at}`)]),
    ...(detail?.fix === undefined ? [] : [line('fix', advised(detail.fix))]),
  ];
}

function listText(mentions: readonly Mention[]): string {
  const names = mentions.slice(0, maxNamed).map(({ subject }) => nameOf(subject));
  const more = mentions.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

function wrongOf({ subject, level, since, what, code }: Mention, detail: Detail | undefined): Wrong {
  const { shows_as_of, in_doubt, next, fix } = detail ?? {};
  const named = subject === kindOf(subject) ? { subject } : { [kindOf(subject)]: nameOf(subject) };
  return {
    ...named,
    level,
    since: new Date(since).toISOString(),
    what,
    ...(code === null ? {} : { code }),
    shows_as_of: shows_as_of === undefined ? undefined : new Date(shows_as_of).toISOString(),
    in_doubt,
    next: next?.message,
    next_at: next?.at === undefined ? undefined : new Date(next.at).toISOString(),
    fix: fix === undefined ? undefined : advised(fix),
  };
}
