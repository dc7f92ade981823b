import { setTimeout as wait } from 'node:timers/promises';
import { type Dialog, mutate, randomOf } from './mutate.ts';
import { type Protocol, protocols } from './protocols.ts';
import { replay } from './replay.ts';

/**
 * `node test/fuzz/fuzz-child.ts PROTOCOL COUNT SEED`: runs this many mutated dialogs and prints the seeds of those that
 * failed.
 */
const [name = '', count = '500', seed = '1'] = process.argv.slice(2);
const protocol = protocols[name] as Protocol;
const atATime = 32;
/**
 * If a peer sends nothing for this long, it's given up as if the run were stopped. The client must then end, even on a
 * busy machine.
 */
const stopAfterMs = 1_500;
const endsWithinMs = 60_000;

const playing = new Set<number>();
const failed = (what: string) => {
  process.stdout.write(`FAILED ${what}\n`);
  process.exitCode = 1;
};
process.on('uncaughtException', (error) => failed(`uncaught among seeds ${[...playing].join(' ')}: ${error.stack}`));
process.on('unhandledRejection', (error) =>
  failed(`unhandled among seeds ${[...playing].join(' ')}: ${(error as Error).stack}`),
);

interface Played {
  readonly dialog: Dialog;
  readonly data: Dialog;
  readonly isPushing?: boolean;
  readonly isSilent: boolean;
  readonly patienceMs?: number;
  readonly timeoutSeconds?: number;
  readonly quietMs?: number;
}

/** The delivered cells; undefined if there were none. */
async function play({
  dialog,
  data,
  isPushing = false,
  isSilent,
  patienceMs = stopAfterMs,
  timeoutSeconds,
  quietMs,
}: Played): Promise<readonly (string | null)[] | undefined> {
  const { greets = false } = protocol;
  const server = await replay({ dialog, data, greets, isPushing, isSilent, quietMs });
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error('stopped')), patienceMs);
  const hung = wait(patienceMs + endsWithinMs, 'hung' as const, { ref: false });
  try {
    const played = await Promise.race([
      protocol
        .play({ port: server.port, signal: stop.signal, timeoutSeconds })
        .catch((error: unknown) => void (patienceMs > stopAfterMs && process.stdout.write(`${error}\n`))),
      hung,
    ]);
    if (played === 'hung') throw new Error('hung');
    return played;
  } finally {
    clearTimeout(timer);
    server.close();
  }
}

async function playSeed(one: number): Promise<void> {
  const random = randomOf(one);
  const whole = protocol.dialog();
  const isOfData = protocol.data !== undefined && protocol.data().length > 0 && random() < 0.3;
  const mutated = mutate(isOfData ? protocol.data!() : whole, random);
  const dialog = isOfData ? whole : mutated.dialog;
  const data = isOfData ? mutated.dialog : (protocol.data?.() ?? []);
  const isPushing = protocol.asksForAll !== true;
  const cells = await play({ dialog, data, isPushing, isSilent: random() < 0.1 && !protocol.isNeverSilent });
  if (cells === undefined) return;
  const { cutAt } = mutated;
  if (!isOfData && cutAt !== undefined && cutAt.piece <= (protocol.wholeAt?.(whole) ?? -1)) {
    throw new Error(`delivered a dialog that was cut at byte ${cutAt.byte} of piece ${cutAt.piece}`);
  }
  if (protocol.isDecoded) return;
  const said = Buffer.concat([...dialog]).toString('latin1');
  for (const cell of cells) {
    if (cell !== null && !wasSaid(cell, said)) throw new Error(`delivered ${JSON.stringify(cell)}, which was not sent`);
  }
}

/**
 * Whether the peer sent this cell, as UTF-8 or, for SQL Server, as UTF-16. Bytes that aren't text can't be compared.
 */
function wasSaid(cell: string, said: string): boolean {
  const forms = (['utf8', 'utf16le'] as const).map((encoding) => Buffer.from(cell, encoding).toString('latin1'));
  return cell.includes('\ufffd') || forms.some((form) => said.includes(form));
}

const truth = await play({
  dialog: protocol.dialog(),
  data: protocol.data?.() ?? [],
  isSilent: false,
  patienceMs: 60_000,
  timeoutSeconds: 60,
  quietMs: 250,
});
if (JSON.stringify(truth ?? []) !== JSON.stringify(protocol.gives))
  failed(`the true dialog gave ${JSON.stringify(truth)}`);

let next = Number(seed);
const end = next + Number(count);
await Promise.all(
  Array.from({ length: atATime }, async () => {
    for (let one = next++; one < end; one = next++) {
      playing.add(one);
      process.stdout.write(`at ${one}\n`);
      await playSeed(one).catch((error: Error) => failed(`seed ${one}: ${error.message}`));
      playing.delete(one);
    }
  }),
);
process.stdout.write(`played ${count}\n`);
