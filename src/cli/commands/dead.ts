import type { Command } from 'commander';
import type { OutboxRow } from '../../state/tables.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countOf, countText, instantText } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';

async function list(_: unknown, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<Flags>();
  const { show, withStore } = await import('../payloads/with-runtime.ts');
  await withStore(flags, async (store) => {
    const rows = (await store?.outbox.inState('dead')) ?? [];
    show(flags, { text: listText(rows), data: rows.map(jsonOf) });
  });
}

function listText(rows: readonly OutboxRow[]): string {
  if (rows.length === 0) return 'No dead payloads.';
  const right = { align: 'right' as const };
  const columns = [
    { title: 'job' },
    { title: 'run' },
    { title: 'data as of' },
    { title: 'rows', ...right },
    { title: 'bytes', ...right },
    { title: 'attempts', ...right },
    { title: 'why' },
  ];
  const cells = rows.map(({ job, run, as_of, row_count, bytes, attempts, code }) => [
    job,
    run,
    instantText(as_of),
    countText(row_count),
    bytesText(bytes),
    String(attempts),
    code ?? '',
  ]);
  return `${renderTable(columns, cells, { paper: process.stdout })}\n\nDetails: sluice dead show JOB. Send again: sluice dead send JOB`;
}

const isoOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function jsonOf(row: OutboxRow): object {
  const { job, run, destination, instance, as_of, row_count, bytes, sha256, attempts, code, message } = row;
  return {
    job,
    run,
    destination,
    instance,
    as_of: isoOf(as_of),
    died_at: isoOf(row.settled_at),
    rows: row_count,
    bytes,
    sha256,
    attempts,
    code,
    message,
    path: row.path,
  };
}

async function showOne(ref: string, _: unknown, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<Flags>();
  const [{ show, withStore }, { findPayload }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/find-payload.ts'),
  ]);
  await withStore(flags, async (store) => {
    const row = findPayload((await store?.outbox.inState('dead')) ?? [], ref, 'dead');
    await store?.blobs.ensureHere(row.path);
    show(flags, { text: oneText(row), data: jsonOf(row) });
  });
}

function oneText(row: OutboxRow): string {
  const { job, run, destination, instance, as_of, row_count, bytes, attempts, code, message, path } = row;
  return [
    `Job ${job}, run ${run}: dead since ${instantText(row.settled_at ?? row.owed_at)}`,
    `For instance ${instance} at ${destination}, data as of ${instantText(as_of)}`,
    `${countOf(row_count, 'row')}, ${bytesText(bytes)}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    `${code}: ${message}`,
    `File: ${path}`,
    '',
    `After fixing the cause: sluice dead send ${job}`,
  ].join('\n');
}

async function sendOne(ref: string, _: unknown, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<Flags>();
  const [{ withRuntime }, { findPayload }, { currentDecider }, { requeue }, { sendNow }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/find-payload.ts'),
    import('../payloads/decided-by.ts'),
    import('../../delivery/decide.ts'),
    import('../payloads/send-now.ts'),
  ]);
  await withRuntime(flags, async (runtime) => {
    const dead = findPayload(await runtime.store.outbox.inState('dead'), ref, 'dead');
    const row = await requeue(runtime.gateway, dead, currentDecider(flags.why));
    const done = `Queued again: ${countOf(row.row_count, 'row')} of job ${row.job}, run ${row.run}.`;
    await sendNow(row, { runtime, flags, done });
  });
}

const refArgument = ['<job>', 'name of the job, or ID of the run'] as const;

export default {
  help: {
    examples: [
      ['sluice dead list', 'all dead payloads'],
      ['sluice dead show orders', "the service's response"],
      ['sluice dead send orders --why "the data source was recreated"', 'try again'],
    ],
  },
  register(program: Command): void {
    const dead = program
      .command('dead')
      .description('Lists payloads that the service permanently rejected, shows the reason, and sends them again.')
      .option(...configFlag)
      .option('--json', 'print JSON');
    dead.command('list', { isDefault: true }).description('Lists all dead payloads.').action(list);
    dead
      .command('show')
      .description("Shows a dead payload and the service's response.")
      .argument(...refArgument)
      .action(showOne);
    dead
      .command('send')
      .description('Sends a dead payload again and resets its attempt count.')
      .argument(...refArgument)
      .option(...whyFlag)
      .action(sendOne);
  },
} satisfies CliCommand;
