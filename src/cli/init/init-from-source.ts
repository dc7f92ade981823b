import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, resolve } from 'node:path';
import { checkConfig } from '../../config/check.ts';
import { discoverSource } from '../../daemon/checks/discover-source.ts';
import { quietLog } from '../../lib/log.ts';
import { initConfig, refuseExisting } from '../config/init-config.ts';
import { configArguments, showProblems } from '../config-file.ts';
import { discoveredText } from '../discover/discovered-text.ts';
import { type OpenAddressResult, openAddress } from '../discover/open-address.ts';
import { exit } from '../exit.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { onStop } from '../signals.ts';
import { type Ask, chooseDatasets, isYes } from './choose-datasets.ts';
import { type ChosenDataset, type FirstConfig, firstConfig } from './first-config.ts';
import { headText } from './show-head.ts';

export interface InitOptions {
  readonly path: string;
  readonly force: boolean;
  /** The path or URL of the source. */
  readonly address: string;
  readonly tables: readonly string[];
  readonly yes: boolean;
  /** URL of the dashboard service. */
  readonly destination?: string | undefined;
  /** Asks the user a question. Absent if there's no terminal. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
}

const print = (text: string): void => void process.stdout.write(`${sanitizeOutput(text)}\n`);

/**
 * Writes a config for the datasets that the user chooses from a source, checks the config, and shows the first rows.
 * Sends data only if the user agrees.
 */
export async function initFromSource({
  path,
  force,
  address: text,
  tables,
  yes,
  ...given
}: InitOptions): Promise<void> {
  if (!force) refuseExisting(path);
  const stop = onStop();
  try {
    const { signal } = stop;
    const ask = given.ask && ((question: string) => given.ask!(question, signal));
    const address = await openAddress(text);
    const { source, connector, pattern } = address;
    const datasets = await discoverSource(source, { folder: process.cwd(), pattern, log: quietLog, signal });
    print(discoveredText({ connector, datasets }));
    const chosen = await chooseDatasets(datasets, { tables, yes, ask });
    if (chosen.length === 0) return print('No dataset was selected, so nothing was written.');
    const config = firstConfig({ address, chosen, folder: dirname(resolve(path)), ...given });
    await initConfig({ path, force, config: config.text });
    print(`\nWrote ${resolve(path)} with ${chosen.length === 1 ? 'one job' : `${chosen.length} jobs`}.`);
    await checkWritten(path, config);
    await showHeads(address, { chosen, config, signal });
    await offerSync(path, config, ask);
  } finally {
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
  }
}

/**
 * Checks the file as if its variables were set: the address supplies some values, and the service will supply the key.
 */
async function checkWritten(path: string, { secrets }: FirstConfig): Promise<void> {
  const env = { SLUICE_API_KEY: 'not-set-yet', ...process.env, ...secrets };
  const { problems, warnings, verdict } = await checkConfig(path, { env });
  showProblems(warnings, 'warn');
  showProblems(problems);
  print(verdict);
  if (problems.length > 0) process.exitCode = exit.usage;
}

async function showHeads(
  { source }: OpenAddressResult,
  { chosen, config, signal }: { chosen: readonly ChosenDataset[]; config: FirstConfig; signal: AbortSignal },
): Promise<void> {
  for (const [c, { dataset }] of chosen.entries()) {
    const table = await headText(source, { query: dataset.query, folder: process.cwd(), signal });
    print(`\n${config.jobs[c]}: the first rows\n${table}`);
  }
}

async function offerSync(path: string, { secrets }: FirstConfig, ask: Ask | undefined): Promise<void> {
  const which = configArguments(path);
  const isReady = ask !== undefined && process.env.SLUICE_API_KEY !== undefined && process.exitCode === undefined;
  if (isReady && isYes(await ask('\nCreate the data sources and send the rows now? [y/N] '))) {
    const env = { ...process.env, ...secrets };
    const code =
      (await runSluice(['apply', '--yes', '--config', path], env)) ||
      (await runSluice(['sync', '--config', path], env));
    process.exitCode = code;
  }
  const variables = Object.keys(secrets).map(
    (name) =>
      `  export ${name}=…   ${name.endsWith('_KEY') ? 'the key in the URL' : 'the password, percent-encoded as in the URL'}`,
  );
  const key = process.env.SLUICE_API_KEY === undefined ? [serviceLine, '  export SLUICE_API_KEY=…   that key'] : [];
  print(
    [
      '\nNext:',
      ...key,
      ...variables,
      `  sluice check --connect${which}`,
      `  sluice apply --yes${which} && sluice sync${which}`,
    ].join('\n'),
  );
}

const serviceLine = '  sluice serve                 in another terminal; prints an API key on the first start';

/** Runs another command of this program on the same terminal, and returns the command's exit code. */
async function runSluice(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], { env, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? exit.failed;
}
