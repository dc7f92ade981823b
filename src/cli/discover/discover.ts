import { discoverSource } from '../../daemon/checks/discover-source.ts';
import { guardSource } from '../../daemon/login-holds/source-session.ts';
import { quietLog } from '../../lib/log.ts';
import type { Dataset } from '../../sdk/dataset.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { firstConfig, jobsText } from '../init/first-config.ts';
import { chooseSource } from '../payloads/choose-source.ts';
import { show } from '../payloads/with-runtime.ts';
import { onStop } from '../signals.ts';
import { type Discovered, discoveredJson, discoveredText } from './discovered-text.ts';
import { openAddress } from './open-address.ts';
import { isAddress } from './source-at.ts';

export interface DiscoverFlags {
  readonly config: string;
  readonly json?: true;
}

interface Asked {
  readonly name: string;
  readonly pattern: string | undefined;
  readonly signal: AbortSignal;
}

/** Prints the datasets that a source contains. The source is in the config, or it's at a path or URL. */
export async function discover(name: string, pattern: string | undefined, flags: DiscoverFlags): Promise<void> {
  const stop = onStop();
  try {
    const asked = { name, pattern, signal: stop.signal };
    const found = isAddress(name) ? await discoverAddress(asked) : await discoverNamed(asked, flags);
    show(flags, { text: discoveredText(found), data: discoveredJson(found) });
    if (found.datasets.some(({ problem }) => problem !== undefined)) process.exitCode = exit.failed;
  } finally {
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
  }
}

async function discoverAddress({ name, pattern: given, signal }: Asked): Promise<Discovered> {
  const address = await openAddress(name);
  const { source, connector, pattern = given } = address;
  const folder = process.cwd();
  const datasets = await discoverSource(source, { folder, pattern, log: quietLog, signal });
  const isNarrow = connector !== 'db' && pattern !== undefined;
  const chosen = isNarrow ? datasets.filter(isUsable).map((dataset) => ({ dataset })) : [];
  if (chosen.length === 0) return { connector, datasets };
  return { connector, datasets, config: bare(firstConfig({ address, chosen, folder }).text) };
}

async function discoverNamed({ name, pattern, signal }: Asked, flags: DiscoverFlags): Promise<Discovered> {
  const { config, problems } = await openConfig(flags.config);
  showProblems(problems);
  const source = chooseSource(config, name);
  const { composeRuntime } = await import('../../daemon/compose.ts');
  const runtime = await composeRuntime({ config });
  try {
    const guard = guardSource(runtime.loginGate, source, { isPerson: true });
    const login = runtime.logins.of(source);
    const given = { folder: config.folder, pattern, guard, login, log: quietLog, signal };
    const datasets = await discoverSource(source, given);
    const chosen = pattern === undefined ? [] : datasets.filter(isUsable).map((dataset) => ({ dataset }));
    const found = { source: name, connector: source.connector.id, datasets };
    return chosen.length === 0 ? found : { ...found, config: jobsText(chosen, name).text };
  } finally {
    await runtime.close();
  }
}

const isUsable = ({ problem }: Dataset): boolean => problem === undefined;

/** The config without the comments at its beginning. */
function bare(config: string): string {
  return config.replaceAll(/^(?:#.*\n)+\n?/gm, '');
}
