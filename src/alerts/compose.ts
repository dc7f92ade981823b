import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Occasion } from '../config/alerts.ts';
import { advised } from '../lib/advice.ts';
import { redact } from '../lib/redact.ts';
import { durationText, instantText } from '../lib/time-text.ts';
import type { Bulletin, Detail, Mention } from './alert.ts';
import { headline, kindOf, nameOf } from './words.ts';

/** One thing that is wrong, as machines get it. Instants are ISO 8601. */
interface Wrong extends Record<string, unknown> {
  readonly since: string;
  readonly what: string;
}

/** What is posted, put on a standard input, and kept. */
export interface AlertEvent {
  readonly type: 'alert.opened' | 'alert.worse' | 'alert.reminder' | 'alert.recovered' | 'alert.test';
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    /** One line. */
    readonly title: string;
    /** The whole of it for a person, several lines. */
    readonly text: string;
    readonly occasion?: Occasion;
    /** How many are open. */
    readonly open: number;
    /** The first of them. */
    readonly alerts: readonly Wrong[];
    /** Names of those that are over, the first of them. */
    readonly recovered: readonly string[];
    readonly host: string;
    /** The config that speaks. */
    readonly config: string;
  };
}

/** More names than this help nobody. */
const mostNamed = 10;

export interface ComposeGiven {
  readonly now: number;
  /** Path of the config. */
  readonly file: string;
  readonly detailOf: (subject: string) => Detail | undefined;
}

/** The subjects of a bulletin that are worth the question how they stand. */
export function toDescribe({ fresh, open, recovered }: Bulletin): string[] {
  const first = fresh[0] ?? open[0] ?? recovered[0];
  return first === undefined ? [] : [first.subject];
}

/** A bulletin as the event that channels carry. Redacted. */
export function composeBulletin(bulletin: Bulletin, given: ComposeGiven): AlertEvent {
  const { occasion, kind, open, recovered } = bulletin;
  const title = titleOf(bulletin);
  return eventOf(kind, given, {
    title,
    text: textOf(bulletin, { title, given }),
    occasion,
    open: open.length,
    alerts: ordered(bulletin)
      .slice(0, mostNamed)
      .map((mention) => wrongOf(mention, given.detailOf(mention.subject))),
    recovered: recovered.slice(0, mostNamed).map(({ subject }) => nameOf(subject)),
  });
}

/** What `sluice alerts test` sends. */
export function composeTest(given: Omit<ComposeGiven, 'detailOf'>): AlertEvent {
  const title = 'this is a test';
  const lines = [
    `Sluice: ${title}`,
    '',
    'Nothing is wrong. If you can read this, alerts reach you.',
    '',
    fromLine(given.file),
  ];
  return eventOf('test', given, { title, text: lines.join('\n'), open: 0, alerts: [], recovered: [] });
}

type Facts = Omit<AlertEvent['data'], 'id' | 'host' | 'config'>;

function eventOf(
  kind: Bulletin['kind'] | 'test',
  { now, file }: Pick<ComposeGiven, 'now' | 'file'>,
  facts: Facts,
): AlertEvent {
  const id = `msg_${randomBytes(12).toString('hex')}`;
  const data = { id, ...facts, host: hostname(), config: file };
  const event: AlertEvent = { type: `alert.${kind}`, timestamp: new Date(now).toISOString(), data };
  return JSON.parse(redact(JSON.stringify(event))) as AlertEvent;
}

/** What is new comes first. */
function ordered({ fresh, open }: Bulletin): Mention[] {
  const first = new Set(fresh.map(({ subject }) => subject));
  return [...fresh, ...open.filter(({ subject }) => !first.has(subject))];
}

function titleOf({ occasion, kind, fresh, open, recovered }: Bulletin): string {
  const told = kind === 'recovered' ? recovered : kind === 'reminder' ? open : fresh;
  const names = told.map(({ subject }) => nameOf(subject));
  const head = headline(occasion, {
    names,
    worse: told.every(({ level }) => level > 1),
    over: kind === 'recovered',
  });
  if (kind === 'reminder') return `still: ${head}`;
  const rest = open.length - fresh.length;
  if (kind === 'recovered') return open.length === 0 ? head : `${head}, ${open.length} do not yet`;
  return rest > 0 ? `${head}, with ${rest} before` : head;
}

function textOf(bulletin: Bulletin, { title, given }: { title: string; given: ComposeGiven }): string {
  const { kind, recovered } = bulletin;
  const mentions = kind === 'recovered' ? recovered : ordered(bulletin);
  const body = mentions.length === 1 ? oneText(mentions[0]!, { kind, given }) : manyText(mentions, { kind, given });
  const also = kind === 'recovered' || recovered.length === 0 ? [] : ['', `over: ${listText(recovered)}`];
  return [`Sluice: ${title}`, '', ...body, ...also, '', fromLine(given.file)].join('\n');
}

interface Telling {
  readonly kind: Bulletin['kind'];
  readonly given: ComposeGiven;
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
    ...mendLines(detail),
  ];
}

function manyText(mentions: readonly Mention[], { kind, given }: Telling): string[] {
  const named = mentions.slice(0, mostNamed).map(({ subject, what, code, since }) => {
    const why =
      kind === 'recovered' ? `began ${instantText(since)}` : `${whatText(what, code)} (since ${instantText(since)})`;
    return `- ${nameOf(subject)}: ${why}`;
  });
  const more = mentions.length - named.length;
  const detail = given.detailOf(mentions[0]!.subject);
  const first =
    kind === 'recovered' || detail === undefined ? [] : ['', `of ${nameOf(mentions[0]!.subject)}, the first:`];
  return [
    ...named,
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...first,
    ...(first.length === 0 ? [] : [...shownLines(detail, given.now), ...mendLines(detail)]),
  ];
}

const line = (name: string, text: string): string => `${name.padEnd(10)}${text}`;
const whatText = (what: string, code: string | null): string => (code === null ? what : `${what} [${code}]`);
const fromLine = (file: string): string => line('from', `${hostname()}, ${file}`);

function shownLines(detail: Detail | undefined, now: number): string[] {
  if (detail?.shows_nothing === true) return [line('dashboard', 'shows nothing that came from here')];
  const asOf = detail?.shows_as_of;
  if (asOf === undefined) return [];
  const doubt =
    detail?.in_doubt === true ? ', possibly newer: whether what was sent since has arrived is not known' : '';
  const age = `${durationText(Math.max(0, now - asOf))} old`;
  return [line('dashboard', `shows data as of ${instantText(asOf)}, ${age}${doubt}`)];
}

function mendLines(detail: Detail | undefined): string[] {
  const next = detail?.next;
  const at = next?.at === undefined ? '' : `, ${instantText(next.at)}`;
  return [
    ...(next === undefined ? [] : [line('next', `${next.says}${at}`)]),
    ...(detail?.mend === undefined ? [] : [line('mend', advised(detail.mend))]),
  ];
}

function listText(mentions: readonly Mention[]): string {
  const names = mentions.slice(0, mostNamed).map(({ subject }) => nameOf(subject));
  const more = mentions.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

function wrongOf({ subject, level, since, what, code }: Mention, detail: Detail | undefined): Wrong {
  const { shows_as_of, in_doubt, next, mend } = detail ?? {};
  const named = subject === kindOf(subject) ? { subject } : { [kindOf(subject)]: nameOf(subject) };
  return {
    ...named,
    level,
    since: new Date(since).toISOString(),
    what,
    ...(code === null ? {} : { code }),
    shows_as_of: shows_as_of === undefined ? undefined : new Date(shows_as_of).toISOString(),
    in_doubt,
    next: next?.says,
    next_at: next?.at === undefined ? undefined : new Date(next.at).toISOString(),
    mend: mend === undefined ? undefined : advised(mend),
  };
}
