import type { AlertChannel } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { onStop } from '../signals.ts';

/** The response of a channel. */
interface ChannelTest {
  readonly channel: string;
  readonly type: string;
  readonly ok: boolean;
  readonly message: string;
  /**
   * Number of waiting messages that are sent now because the channel works again; undefined if no message was waiting.
   */
  readonly due?: number;
}

/** Sends a test message to all channels or to the named channel, one channel at a time, and prints the responses. */
export async function testChannels(
  name: string | undefined,
  { config: file, json }: { readonly config: string; readonly json?: true },
): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const channels = chooseChannels(name, config);
  const stop = onStop();
  const tested: ChannelTest[] = [];
  try {
    for (const channel of channels) {
      const result = await testOne(channel, config, stop.signal);
      tested.push(result);
      if (json !== true) process.stdout.write(`${sanitizeOutput(lineOf(result))}\n`);
    }
  } finally {
    stop.done();
  }
  if (json === true) process.stdout.write(`${sanitizeOutput(jsonOutput(tested))}\n`);
  process.exitCode = stop.code() ?? (tested.every(({ ok }) => ok) ? exit.ok : exit.failed);
}

async function testOne(channel: AlertChannel, config: Config, signal: AbortSignal): Promise<ChannelTest> {
  const { folder, file } = config;
  const [{ composeTest }, { testChannel }] = await Promise.all([
    import('../../alerts/compose.ts'),
    import('../../alerts/send-to.ts'),
  ]);
  const now = Date.now();
  const event = composeTest({ now, file });
  const around = { signal, now, folder };
  const post = { id: event.data.id, event, body: JSON.stringify(event) };
  const { ok, message } = await testChannel(channel, post, around);
  const due = ok ? await skipBackoff(channel.name, config) : 0;
  return { channel: channel.name, type: channel.type, ok, message, ...(due === 0 ? {} : { due }) };
}

/**
 * Makes waiting messages due now. If a channel has been broken for a long time, its messages are retried only once an
 * hour.
 */
async function skipBackoff(channel: string, config: Config): Promise<number> {
  const { openExistingStore } = await import('../../state/open-existing-store.ts');
  const store = await openExistingStore(config);
  try {
    return (await store?.alerts.hurry(channel)) ?? 0;
  } finally {
    await store?.close();
  }
}

function lineOf({ channel, type, ok, message, due }: ChannelTest): string {
  const waited = due === 1 ? 'one waiting message goes' : `${due} waiting messages go`;
  const more = due === undefined ? '' : `; ${waited} out within a minute or during the next "sluice sync"`;
  return `${ok ? 'ok ' : 'BAD'}  ${channel} (${type}): ${message}${more}`;
}

function chooseChannels(name: string | undefined, { alerts, file }: Config): AlertChannel[] {
  const known = alerts?.channels ?? new Map<string, AlertChannel>();
  if (known.size === 0) {
    throw new Problem({
      code: 'ALERTS_NONE',
      family: 'config',
      message: 'The config has no alert channels',
      where: { file },
      next: 'add a channel under "alerts"; for examples, see docs/alerts.md',
    });
  }
  if (name === undefined) return [...known.values()];
  const channel = known.get(name);
  if (channel !== undefined) return [channel];
  throw new Problem({
    code: 'CLI_UNKNOWN_CHANNEL',
    family: 'config',
    message: `Unknown alert channel "${name}"`,
    where: { file },
    allowed: [...known.keys()].join(', '),
    next: didYouMean(name, known.keys()),
  });
}
