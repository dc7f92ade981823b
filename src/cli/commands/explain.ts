import type { Command } from 'commander';
import type { Explanation, Link } from '../../daemon/explain/explain-links.ts';
import type { CliCommand } from '../command.ts';
import { chooseJobs, configFlag, openConfig } from '../config-file.ts';
import { durationText, instantText } from '../output/format.ts';
import { jsonOutput } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { printable } from '../output/table.ts';

interface Flags {
  readonly config: string;
  readonly json?: true;
}

async function run(asked: string, { config: file, json }: Flags): Promise<void> {
  const loaded = await openConfig(file);
  const [{ openExistingStore: openExisting }, { explainInstance, explainJob, explainLeftOutJob }, { systemClock }] =
    await Promise.all([
      import('../../state/open-existing-store.ts'),
      import('../../daemon/explain/explain.ts'),
      import('../../lib/clock.ts'),
    ]);
  const store = await openExisting(loaded.config);
  try {
    const clock = store?.clock ?? systemClock;
    const given = { config: loaded.config, store, clock };
    const job = loaded.config.jobs.get(asked);
    const found = loaded.refused.has(asked)
      ? [await explainLeftOutJob(asked, given)]
      : job === undefined
        ? await explainInstance(asked, given)
        : [await explainJob(job, given)];
    if (found.length === 0) chooseJobs(loaded, [asked]);
    const text = json === true ? jsonOutput(found) : found.map((one) => textOf(one, clock.now())).join('\n\n');
    process.stdout.write(`${sanitizeOutput(text)}\n`);
  } finally {
    await store?.close();
  }
}

function textOf(
  { job, instance, shows_as_of, in_doubt, verdict, because, next, fix }: Explanation,
  now: number,
): string {
  const age =
    shows_as_of === undefined
      ? 'no data delivered from this state'
      : `data as of ${instantText(shows_as_of)}, ${durationText(Math.max(0, now - shows_as_of))} old`;
  const shown = `${age}${in_doubt === true ? ', possibly newer: it is unknown whether a later upload arrived' : ''}`;
  const line = (title: string, text: string): string => `  ${title.padEnd(9)}${printable(text)}`;
  return [
    `${job}: ${verdict}`,
    ...(instance === undefined ? [] : [line('target', `instance ${instance}`), line('shows', shown)]),
    ...because.map((link, i) => line(i === 0 ? 'because' : '', linkText(link))),
    ...(next === undefined ? [] : [line('next', linkText(next))]),
    ...(fix === undefined ? [] : [line('fix', fix)]),
  ].join('\n');
}

function linkText({ at, message, code }: Link): string {
  return `${at === undefined ? '' : `${instantText(at)}  `}${message}${code === undefined ? '' : ` [${code}]`}`;
}

export default {
  help: {
    examples: [
      ['sluice explain orders', 'by job'],
      ['sluice explain 0123456789abcdef0123456789abcdef', 'by the ID of a data source instance'],
      ['sluice explain orders --json', 'for scripts'],
    ],
  },
  register(program: Command): void {
    program
      .command('explain')
      .description('Explains what a dashboard shows and why, what happens next, and how to fix problems.')
      .argument('<job|instance>', 'name of a job, or ID of a data source instance')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
