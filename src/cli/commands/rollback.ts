import type { Command } from 'commander';
import type { Job } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { GoodPayload } from '../../state/outbox/good-payloads.ts';
import { instanceKeyOf } from '../../state/outbox/instance-key.ts';
import type { Store } from '../../state/store.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countOf, countText, instantText } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';

type RollbackFlags = Flags & { readonly to?: string; readonly list?: true };

async function run(name: string, flags: RollbackFlags): Promise<void> {
  await (flags.list === true ? list(name, flags) : putBackOne(name, flags));
}

async function list(name: string, flags: RollbackFlags): Promise<void> {
  const [{ show, withStore }, { chooseJob }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/choose-job.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    const rows = store === undefined ? [] : await formerOf(chooseJob(config, name), store);
    show(flags, { text: listText(rows, name), data: rows.map(forMachines) });
  });
}

function listText(rows: readonly GoodPayload[], name: string): string {
  if (rows.length === 0) return `No earlier payload of ${name} is stored.`;
  const right = { align: 'right' as const };
  const columns = [
    { title: 'run' },
    { title: 'data as of' },
    { title: 'delivered' },
    { title: 'rows', ...right },
    { title: 'bytes', ...right },
  ];
  const cells = rows.map(({ run, as_of, settled_at, row_count, bytes }) => [
    run,
    instantText(as_of),
    instantText(settled_at ?? as_of),
    countText(row_count),
    bytesText(bytes),
  ]);
  return `${renderTable(columns, cells, { paper: process.stdout })}\n\nTo restore one: sluice rollback ${name} --to RUN`;
}

function forMachines({ run, as_of, settled_at, row_count, bytes, sha256 }: GoodPayload): object {
  const delivered_at = new Date(settled_at ?? as_of).toISOString();
  return { run, as_of: new Date(as_of).toISOString(), delivered_at, rows: row_count, bytes, sha256 };
}

async function formerOf(job: Job, store: Store): Promise<GoodPayload[]> {
  const { addressOf } = await import('../../delivery/address.ts');
  if (job.target.kind !== 'refresh')
    return store.goodPayloads.former(instanceKeyOf({ destination: job.destination, ...(await addressOf(store, job)) }));
  throw new Problem({
    code: 'ROLLBACK_NOTHING',
    family: 'config',
    message: 'A bulk refresh sends no payloads, so there is nothing to roll back',
    where: { job: job.name },
  });
}

async function putBackOne(name: string, flags: RollbackFlags): Promise<void> {
  const [{ withRuntime }, { chooseJob }, { currentDecider }, { rollback }, { sendNow }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/choose-job.ts'),
    import('../payloads/decided-by.ts'),
    import('../../delivery/decide.ts'),
    import('../payloads/send-now.ts'),
  ]);
  await withRuntime(flags, async (runtime, config) => {
    const former = choose(name, await formerOf(chooseJob(config, name), runtime.store), flags.to);
    const row = await rollback(runtime.gateway, former, { job: name, by: currentDecider(flags.why) });
    const what = `${countOf(row.row_count, 'row')} of run ${former.run}, data as of ${instantText(row.as_of)}`;
    const held = `The job is on hold until you run "sluice resume ${name}".`;
    await sendNow(row, { runtime, flags, done: `Restored: ${what}.\n${held}` });
  });
}

/** The payload of the named run, or the newest payload before the current one. */
function choose(name: string, former: readonly GoodPayload[], to: string | undefined): GoodPayload {
  const found = to === undefined ? former[0] : former.find(({ run }) => run === to);
  if (found !== undefined) return found;
  throw new Problem({
    code: 'ROLLBACK_NOTHING',
    family: 'config',
    message: to === undefined ? 'No earlier payload is kept' : `The payload of run ${to} is no longer kept`,
    where: { job: name },
    allowed:
      former.map(({ run }) => run).join(', ') ||
      'none; "keep" in the config sets how many payloads are kept and for how long',
    ...(former.length === 0 ? {} : { next: `sluice rollback ${name} --list` }),
  });
}

export default {
  help: {
    examples: [
      ['sluice rollback orders --list', 'what can be restored'],
      ['sluice rollback orders --why "wrong prices"', 'the previous payload'],
      ['sluice rollback orders --to 20261121-033232-87c45a', 'the payload of a run'],
    ],
  },
  register(program: Command): void {
    program
      .command('rollback')
      .description('Restores an earlier payload of a job and puts the job on hold so that no run replaces it.')
      .argument('<job>', 'name of the job')
      .option(...configFlag)
      .option('--to <run>', 'run whose payload to restore (default: the run before the current one)')
      .option('--list', 'list the payloads that can be restored')
      .option(...whyFlag)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
