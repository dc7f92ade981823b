import type { Command } from 'commander';
import type { Quarantined } from '../../state/outbox/quarantine.ts';
import type { AuditRow } from '../../state/tables.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countOf, countText, instantText } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';

type ListFlags = Flags & { readonly all?: true };

const isWaiting = ({ state }: Quarantined): boolean => state === 'quarantined';

async function list(_: unknown, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<ListFlags>();
  const { show, withStore } = await import('../payloads/with-runtime.ts');
  await withStore(flags, async (store) => {
    const rows = (await store?.quarantine.all()) ?? [];
    const shown = flags.all === true ? rows : rows.filter(isWaiting);
    const decisions = (await store?.audit.history({ limit: 10_000 })) ?? [];
    show(flags, { text: listText(shown, flags), data: shown.map((row) => jsonOf(row, decisions)) });
  });
}

function listText(rows: readonly Quarantined[], { all }: ListFlags): string {
  if (rows.length === 0) return all === true ? 'No quarantined payloads, past or present.' : 'No quarantined payloads.';
  const columns = [
    { title: 'job' },
    { title: 'run' },
    ...(all === true ? [{ title: 'now' }] : []),
    { title: 'data as of' },
    { title: 'rows', align: 'right' as const },
    { title: 'bytes', align: 'right' as const },
    { title: 'why' },
  ];
  const cells = rows.map(({ job, run, state, as_of, row_count, bytes, findings }) => [
    job,
    run,
    ...(all === true ? [state] : []),
    instantText(as_of),
    countText(row_count),
    bytesText(bytes),
    messagesOf(findings).join('; '),
  ]);
  const table = renderTable(columns, cells, { widest: 80, paper: process.stdout });
  return all === true ? table : `${table}\n\nDetails: sluice quarantine show JOB. Then approve or discard the payload.`;
}

function messagesOf(findings: string): string[] {
  return (JSON.parse(findings) as { message: string }[]).map(({ message }) => message);
}

function jsonOf(row: Quarantined, decisions: readonly AuditRow[]): object {
  const { job, run, state, destination, instance, as_of, row_count, bytes, sha256, findings } = row;
  const decision = decisions.find((one) => one.run === run && (one.action === 'approve' || one.action === 'discard'));
  return {
    job,
    run,
    state,
    destination,
    instance,
    as_of: new Date(as_of).toISOString(),
    rows: row_count,
    bytes,
    sha256,
    findings: JSON.parse(findings) as unknown,
    decision: decision === undefined ? undefined : decisionOf(decision),
  };
}

function decisionOf({ action, who, why, at }: AuditRow): object {
  return { action, who, why, at: new Date(at).toISOString() };
}

async function showOne(ref: string, _: unknown, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<Flags>();
  const [{ show, withStore }, { findPayload }, { differenceOf, differenceText }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/find-payload.ts'),
    import('../payloads/compare.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    const rows = (await store?.quarantine.all()) ?? [];
    const decided = rows.find(({ run, state }) => run === ref && state !== 'quarantined');
    const row = decided ?? findPayload(rows.filter(isWaiting), ref, 'quarantined');
    const difference = await differenceOf(row, { job: config.jobs.get(row.job), store });
    const decisions = (await store?.audit.history({ job: row.job, limit: 1000 })) ?? [];
    const { findings: _, ...rest } = difference;
    show(flags, {
      text: `${headText(row, decisions)}\n\n${differenceText(difference)}${nextText(row)}`,
      data: { ...jsonOf(row, decisions), ...rest },
    });
  });
}

function headText(row: Quarantined, decisions: readonly AuditRow[]): string {
  const { job, run, state, destination, instance, as_of } = row;
  const decision = decisions.find((one) => one.run === run && (one.action === 'approve' || one.action === 'discard'));
  const words = decision === undefined ? '' : ` (${decision.action} by ${decision.who}, ${instantText(decision.at)}`;
  const why = decision === undefined ? '' : `${decision.why === '' ? '' : `: ${decision.why}`})`;
  return [
    `Job ${job}, run ${run}: ${state}${words}${why}`,
    `For instance ${instance} at ${destination}, data as of ${instantText(as_of)}`,
    ...(state === 'quarantined' ? [`File: ${row.path}`] : []),
  ].join('\n');
}

function nextText({ state, job }: Quarantined): string {
  if (state !== 'quarantined') return '';
  return `\n\nTo send it anyway:  sluice quarantine approve ${job}\nTo discard it:      sluice quarantine discard ${job}`;
}

async function approveOne(ref: string, _: unknown, command: Command): Promise<void> {
  await decideOn(ref, command, async ({ row, by, runtime, flags }) => {
    const [{ approve }, { sendNow }] = await Promise.all([
      import('../../delivery/decide.ts'),
      import('../payloads/send-now.ts'),
    ]);
    const owed = await approve(runtime.gateway, row, by);
    const done = `Approved: ${countOf(row.row_count, 'row')} of job ${row.job}, run ${row.run}.`;
    await sendNow(owed, { runtime, flags, done });
  });
}

async function discardOne(ref: string, _: unknown, command: Command): Promise<void> {
  await decideOn(ref, command, async ({ row, by, runtime, flags }) => {
    const [{ discard }, { show }] = await Promise.all([
      import('../../delivery/decide.ts'),
      import('../payloads/with-runtime.ts'),
    ]);
    await discard(runtime.gateway, row, by);
    const { job, run, instance } = row;
    show(flags, {
      text: `Discarded the payload of run ${run} of job ${job}. The instance keeps its current data.`,
      data: { job, run, instance, state: 'discarded' },
    });
  });
}

interface Deciding {
  readonly row: Quarantined;
  readonly by: import('../../state/runs/audit.ts').DecidedBy;
  readonly runtime: import('../../daemon/compose.ts').Runtime;
  readonly config: import('../../config/config.ts').Config;
  readonly flags: Flags;
}

async function decideOn(ref: string, command: Command, work: (deciding: Deciding) => Promise<void>): Promise<void> {
  const flags = command.optsWithGlobals<Flags>();
  const [{ withRuntime }, { findPayload }, { currentDecider }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/find-payload.ts'),
    import('../payloads/decided-by.ts'),
  ]);
  await withRuntime(flags, async (runtime, config) => {
    const waiting = (await runtime.store.quarantine.all()).filter(isWaiting);
    const row = findPayload(waiting, ref, 'quarantined');
    await work({ row, by: currentDecider(flags.why), runtime, config, flags });
  });
}

const refArgument = ['<job>', 'name of the job, or ID of the run'] as const;

export default {
  help: {
    examples: [
      ['sluice quarantine list', 'payloads that wait for a decision'],
      ['sluice quarantine show orders', 'why, and what differs'],
      ['sluice quarantine approve orders --why "the shop was closed"', 'send it'],
      ['sluice quarantine discard orders --why "half of the rows are missing"', 'keep the old data'],
    ],
  },
  register(program: Command): void {
    const quarantine = program
      .command('quarantine')
      .description('Lists payloads that guards held back, shows why, and approves or discards them.')
      .option(...configFlag)
      .option('--json', 'print JSON');
    quarantine
      .command('list', { isDefault: true })
      .description('Lists quarantined payloads.')
      .option('--all', 'include decided and superseded payloads')
      .action(list);
    quarantine
      .command('show')
      .description('Shows what the guards found and how the rows differ from the last good payload.')
      .argument(...refArgument)
      .action(showOne);
    quarantine
      .command('approve')
      .description('Approves a payload and sends it unchanged.')
      .argument(...refArgument)
      .option(...whyFlag)
      .action(approveOne);
    quarantine
      .command('discard')
      .description('Discards a payload; the instance keeps its current data.')
      .argument(...refArgument)
      .option(...whyFlag)
      .action(discardOne);
  },
} satisfies CliCommand;
