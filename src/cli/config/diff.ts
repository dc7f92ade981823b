import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { compareConfigs } from './compare-configs.ts';
import type { Version } from './config-changes.ts';
import { differenceMarkdown, differenceText } from './difference-tables.ts';

interface Flags {
  readonly config: string;
  readonly withoutSecrets?: true;
  readonly markdown?: true;
  readonly json?: true;
}

/** The argument to use if there is no earlier version. */
const none = '/dev/null';

/** Prints how a config differs from an earlier version. */
export async function diffConfigs(
  earlier: string,
  { config: file, withoutSecrets, markdown, json }: Flags,
): Promise<void> {
  const before = earlier === none ? undefined : await openEarlier(earlier, withoutSecrets);
  const after = await openConfig(file, showProblems, { withoutSecrets });
  showProblems(after.problems);
  const difference = await compareConfigs(before, after, Date.now());
  const text = json ? jsonOutput(difference) : markdown ? differenceMarkdown(difference) : differenceText(difference);
  process.stdout.write(`${sanitizeOutput(text)}\n`);
  if (after.problems.length > 0) process.exitCode = exit.usage;
  else if (!difference.fits) process.exitCode = exit.failed;
}

/** Errors in the earlier version are ignored, because the new version may fix them. */
async function openEarlier(file: string, withoutSecrets: true | undefined): Promise<Version> {
  const { loadConfig } = await import('../../config/load.ts');
  const { config, problems, ...loaded } = await loadConfig(file, { withoutSecrets });
  const absent = problems.find(({ code }) => code === 'CONFIG_UNREADABLE');
  if (absent !== undefined) throw absent;
  showProblems(problems, 'warn');
  return config && { ...loaded, problems, config };
}
