import type { Config } from '../../config/config.ts';
import { redact } from '../../lib/redact.ts';
import type { ChannelRecord } from '../../state/alerts.ts';
import type { AlertMessageRow, AlertRow } from '../../state/tables.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { countText, durationText, instantText } from '../figures.ts';
import { forMachines } from '../for-machines.ts';
import { toneOf } from '../paint.ts';
import { renderTable } from '../table.ts';

const messagesShown = 10;

interface Listed {
  readonly open: readonly AlertRow[];
  readonly channels: readonly (ChannelRecord & { readonly type: string })[];
  readonly messages: readonly AlertMessageRow[];
}

/** Prints what is wrong now, how the channels are doing and what was told last. */
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
  const text = json === true ? forMachines(forReaders(listed)) : textOf(listed, Date.now());
  process.stdout.write(`${redact(text)}\n`);
}

async function read(config: Config): Promise<Listed> {
  const { openExisting } = await import('../existing-store.ts');
  const store = await openExisting(config);
  try {
    const rows = (await store?.alerts.all()) ?? [];
    const records = (await store?.alerts.channels()) ?? [];
    const named = [...(config.alerts?.channels.values() ?? [])].map(({ name, type }) => {
      const record = records.find(({ channel }) => channel === name);
      return { ...(record ?? { channel: name, waiting: 0, given_up: 0 }), type };
    });
    return {
      open: rows.filter(({ cleared_at }) => cleared_at === null),
      channels: named,
      messages: (await store?.alerts.messages(messagesShown)) ?? [],
    };
  } finally {
    await store?.close();
  }
}

function forReaders({ open, channels, messages }: Listed) {
  return {
    open: open.map(({ subject, occasion, level, since, told, what, code }) => ({
      subject,
      occasion,
      level,
      since,
      told: told >= level,
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

function textOf({ open, channels, messages }: Listed, now: number): string {
  const paper = { widest: 70, paper: process.stdout };
  const wrong = renderTable(
    [{ title: 'what' }, { title: 'who' }, { title: 'since' }, { title: 'for' }, { title: 'told' }, { title: 'why' }],
    open.map(({ subject, occasion, level, since, told, what }) => [
      occasion,
      subject.replace(/^job:/, '').replace(':', ' '),
      instantText(since),
      durationText(Math.max(0, now - since)),
      told >= level ? 'yes' : 'not yet',
      what,
    ]),
    paper,
  );
  const ways = renderTable(
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
  const told = renderTable(
    [{ title: 'made' }, { title: 'channel' }, { title: 'state', tone: toneOf }, { title: 'message' }],
    messages.map(({ made_at, channel, state, title }) => [
      instantText(made_at),
      channel,
      state.replace('_', ' '),
      title,
    ]),
    paper,
  );
  return [
    open.length === 0 ? 'Nothing is wrong that anybody wants to hear of.' : wrong,
    '',
    channels.length === 0 ? 'The config names no channel for alerts; docs/alerts.md shows one of each kind.' : ways,
    ...(messages.length === 0 ? [] : ['', told]),
  ].join('\n');
}
