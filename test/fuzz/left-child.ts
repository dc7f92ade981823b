import { getEventListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Dialog, mutate, randomOf } from './mutate.ts';
import { type Protocol, protocols } from './protocols.ts';
import { replay } from './replay.ts';

/**
 * `node test/fuzz/left-child.ts PROTOCOL COUNT`: prints, as JSON, what this many broken connections leave behind in
 * this process.
 */
const [name = '', count = '200'] = process.argv.slice(2);
const protocol = protocols[name] as Protocol;
const settlesWithinMs = 30_000;
const atATime = 16;
/** On the abort signals of all ended runs. */
let listeners = 0;

/** Plays a broken dialog. Gives up after a while by aborting, as a stopped run does. */
async function playBroken(dialog: Dialog, isSilent: boolean): Promise<void> {
  const { greets = false, data = () => [] } = protocol;
  const server = await replay({ dialog, data: data(), greets, isPushing: false, isSilent });
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(new Error('enough')), 300);
  await protocol.play({ port: server.port, signal: enough.signal }).catch(() => undefined);
  clearTimeout(timer);
  listeners += getEventListeners(enough.signal, 'abort').length;
  server.close();
}

interface Left {
  readonly resources: Readonly<Record<string, number>>;
  readonly listeners: number;
}

function left(): Left {
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  // These belong to this child's own output; no protocol here uses pipes.
  delete resources.PipeWrap;
  return { resources, listeners };
}

const isMore = (now: Left, before: Left) =>
  Object.entries(now.resources).some(([kind, some]) => some > (before.resources[kind] ?? 0));

async function settled(before: Left | undefined): Promise<Left> {
  for (const end = performance.now() + settlesWithinMs; ; ) {
    await wait(100);
    const now = left();
    if (before === undefined || !isMore(now, before) || performance.now() > end) return now;
  }
}

const random = randomOf(1);
let next = 0;
const play = async (some: number): Promise<void> => {
  const end = next + some;
  const one = async () => {
    while (next < end) {
      next++;
      await playBroken(mutate(protocol.dialog(), random).dialog, random() < 0.3);
    }
  };
  await Promise.all(Array.from({ length: atATime }, one));
};

// The first connection loads code that is kept, which isn't a leak.
await play(atATime);
await wait(2000);
const before = await settled(undefined);
await play(Number(count));
process.stdout.write(`${JSON.stringify({ before, after: await settled(before) })}\n`);
