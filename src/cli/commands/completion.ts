import { Argument, type Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

/** The config that the command line names, parsed as commander would. */
function configIn(words: readonly string[]): string {
  const flag = words.findLastIndex((word) => word === '-c' || word === '--config');
  const joined = words.findLast((word) => word.startsWith('--config='));
  return words[flag + 1 || words.length] ?? joined?.slice('--config='.length) ?? configFlag[2];
}

async function run(shell: string, words: readonly string[], program: Command): Promise<void> {
  if (shell !== 'words') {
    const { scripts } = await import('../completion/scripts.ts');
    process.stdout.write(scripts[shell as keyof typeof scripts]);
    return;
  }
  const [{ candidates }, { configNames }] = await Promise.all([
    import('../completion/candidates.ts'),
    import('../completion/config-names.ts'),
  ]);
  const before = words.slice(0, -1);
  const found = candidates(program, { before, current: words.at(-1) ?? '', namesOf: configNames(configIn(before)) });
  process.stdout.write(found.map(({ word, about }) => `${word}\t${about}\n`).join(''));
}

export default {
  help: {
    examples: [
      ['sluice completion bash', 'eval "$(sluice completion bash)" in ~/.bashrc'],
      ['sluice completion zsh', 'save as _sluice in a folder of $fpath'],
      ['sluice completion fish', 'save as ~/.config/fish/completions/sluice.fish'],
    ],
  },
  register(program: Command): void {
    program
      .command('completion')
      .description(
        "Prints a shell completion script that completes commands, options, and the config's jobs and sources.",
      )
      .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish', 'words']))
      .argument('[words...]', 'with "words": the words typed so far; prints the possible next words')
      .action((shell, words) => run(shell, words, program));
  },
} satisfies CliCommand;
