import type { Occasion } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import type { ChannelRecord } from '../../state/alerts.ts';
import { unwritableText } from '../../state/engine/state-problem.ts';
import type { Store } from '../../state/store.ts';
import type { AlertMessageRow, AlertRow } from '../../state/tables.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { countText, durationText, instantText } from '../output/format.ts';
import { jsonOutput } from '../output/json-output.ts';
import { toneOf } from '../output/paint.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { printable, renderTable } from '../output/table.ts';

const messagesShown = 10;
/** Maximum number of alerts for which to show a fix. Further alerts usually have the same fix. */
const maxFixes = 10;

interface Listed {
  readonly open: readonly AlertRow[];
  /** True if the state can't be written, so that new conditions can't be recorded as open alerts. */
  readonly unwritable?: Problem;
  /** How to fix the conditions behind the first open alerts. */
  readonly fixes: readonly string[];
  readonly channels: readonly (ChannelRecord & { readonly type: string })[];
  readonly messages: readonly AlertMessageRow[];
}

/** Prints the open alerts, the channels' states and the latest messages. */
export async function listAlerts({
  config: file,
  json,
}: {
  readonly config: string;
  readonly json?: true;
}): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  if (problems.length > 0) process.exitCode = exit.usage;
  const listed = await read(config);
  const text = json === true ? jsonOutput(forReaders(listed)) : textOf(listed, Date.now());
  process.stdout.write(`${sanitizeOutput(text)}\n`);
}

async function read(config: Config): Promise<Listed> {
  const { openExistingStore } = await import('../../state/open-existing-store.ts');
  const store = await openExistingStore(config);
  try {
    const rows = (await store?.alerts.all()) ?? [];
    const records = (await store?.alerts.channels()) ?? [];
    const named = [...(config.alerts?.channels.values() ?? [])].map(({ name, type }) => {
      const record = records.find(({ channel }) => channel === name);
      return { ...(record ?? { channel: name, waiting: 0, given_up: 0 }), type };
    });
    const open = rows.filter(({ cleared_at }) => cleared_at === null);
    const unwritable = await store?.probe();
    return {
      open,
      unwritable,
      fixes: store === undefined ? [] : await fixesOf(open.slice(0, maxFixes), { config, store }),
      channels: named,
      messages: (await store?.alerts.messages(messagesShown)) ?? [],
    };
  } finally {
    await store?.close();
  }
}

async function fixesOf(rows: readonly AlertRow[], around: { config: Config; store: Store }): Promise<string[]> {
  const [{ describe }, { ConditionCache }, { systemClock }] = await Promise.all([
    import('../../daemon/alerting/describe.ts'),
    import('../../daemon/conditions/read-conditions.ts'),
    import('../../lib/clock.ts'),
  ]);
  const lines: string[] = [];
  const cache = new ConditionCache();
  for (const { subject, occasion } of rows) {
    const detail = await describe(subject, { ...around, occasion: occasion as Occasion, clock: systemClock, cache });
    if (detail?.fix !== undefined) lines.push(`${occasion} ${whoOf(subject)}: ${printable(detail.fix)}`);
  }
  return lines;
}

const whoOf = (subject: string): string => subject.replace(/^job:/, '').replace(':', ' ');

function forReaders({ open, unwritable, channels, messages }: Listed) {
  return {
    unwritable: unwritable === undefined ? undefined : { code: unwritable.code, message: unwritableText(unwritable) },
    open: open.map(({ subject, occasion, level, since, reported_level, what, code }) => ({
      subject,
      occasion,
      level,
      since,
      reported: reported_level >= level,
      what,
      code,
    })),
    channels,
    messages: messages.map(({ id, channel, title, state, made_at, attempts, settled_at, problem }) => ({
      id,
      channel,
      title,
      state,
      made_at,
      attempts,
      settled_at,
      problem,
    })),
  };
}

function textOf({ open, unwritable, fixes, channels, messages }: Listed, now: number): string {
  const isQuiet = open.length === 0 && unwritable === undefined;
  return [
    ...(unwritable === undefined ? [] : [printable(unwritableText(unwritable))]),
    ...(isQuiet ? ['No open alerts.'] : []),
    ...(open.length === 0 ? [] : [tableOfOpenAlerts(open, now)]),
    ...(fixes.length === 0 ? [] : ['', 'How to fix it:', ...fixes.map((fix) => `  ${fix}`)]),
    '',
    channels.length === 0
      ? 'The config has no alert channels. For examples, see docs/alerts.md.'
      : tableOfChannels(channels),
    ...(messages.length === 0 ? [] : ['', tableOfMessages(messages)]),
  ].join('\n');
}

const paper = { widest: 70, paper: process.stdout };

function tableOfOpenAlerts(open: Listed['open'], now: number): string {
  return renderTable(
    [
      { title: 'what' },
      { title: 'who' },
      { title: 'since' },
      { title: 'for' },
      { title: 'reported' },
      { title: 'why' },
    ],
    open.map(({ subject, occasion, level, since, reported_level, what }) => [
      occasion,
      whoOf(subject),
      instantText(since),
      durationText(Math.max(0, now - since)),
      reported_level >= level ? 'yes' : 'not yet',
      // A line has space only for the cause. `sluice history` shows the whole run.
      what.replace(/^run \S+ failed: /, '').replace(/^(\d+) consecutive runs failed; last error: /, '$1 times: '),
    ]),
    paper,
  );
}

function tableOfChannels(channels: Listed['channels']): string {
  return renderTable(
    [
      { title: 'channel' },
      { title: 'type' },
      { title: 'state', tone: toneOf },
      { title: 'waiting' },
      { title: 'last sent' },
      { title: 'problem' },
    ],
    channels.map(({ channel, type, waiting, sent_at, problem }) => [
      channel,
      type,
      problem === undefined ? 'ok' : 'failing',
      countText(waiting),
      sent_at === undefined ? '–' : instantText(sent_at),
      problem ?? '',
    ]),
    paper,
  );
}

function tableOfMessages(messages: Listed['messages']): string {
  return renderTable(
    [{ title: 'made' }, { title: 'channel' }, { title: 'state', tone: toneOf }, { title: 'message' }],
    messages.map(({ made_at, channel, state, title }) => [
      instantText(made_at),
      channel,
      state.replace('_', ' '),
      title,
    ]),
    paper,
  );
}
