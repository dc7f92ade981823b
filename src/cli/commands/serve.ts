import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Log } from '../../lib/log.ts';
import { Problem } from '../../lib/problem.ts';
import type { Pull } from '../../service/refresh/pull.ts';
import type { RunningService } from '../../service/service.ts';
import type { CliCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { onStop, stopCode } from '../signals.ts';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** URL that clients use, if the service is behind a proxy. */
  readonly publicUrl?: string;
  /** The origin whose web pages may call the service, or `*`. */
  readonly corsOrigin?: string;
  /** The data folder. If there is none, all data is kept in memory and is gone when the service stops. */
  readonly data: { readonly folder: string } | 'memory';
  readonly fixtures?: string;
  /** The file to which `{"url", "pid"}` and the control interface's URL are written when the service is ready. */
  readonly readyFile?: string;
  readonly uploadLimitBytes?: number;
  readonly limits: boolean;
  readonly requestLogFile?: string;
  readonly allowPrivateAddresses?: boolean;
  readonly pull?: Pull;
  /** Starts the control interface. If no token is set, generates a token and prints it. */
  readonly control?: { readonly port: number; readonly token?: string };
  readonly log: Log;
}

/**
 * Starts the service and prints its URL. The first start also prints the admin's API key: before the ready file is
 * written, because a program that waits for the file may then read the key. The log says that the service is listening
 * only after that, because a program that waits for this line may open the file.
 */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { startService } = await import('../../service/service.ts');
  const service = await startService(options);
  const { url, firstKey, control } = service;
  const madeToken = options.control?.token === undefined ? control?.token : undefined;
  const isForPeople = process.stdout.isTTY === true;
  if (!isForPeople) {
    if (firstKey !== undefined) sayKey(firstKey);
    if (madeToken !== undefined) sayToken(control!.url, madeToken);
  }
  const running = await announced(service, options.readyFile, madeToken).catch((thrown: unknown) => {
    // The key is never shown again.
    if (isForPeople && firstKey !== undefined) sayKey(firstKey);
    throw thrown;
  });
  if (isForPeople) process.stdout.write(`${welcome(options, service, madeToken)}\n\n`);
  // A person has already read the URL.
  const level = isForPeople && process.stderr.isTTY ? 'debug' : 'info';
  options.log[level]('service is listening', { url, pid: process.pid, ...(control && { control_url: control.url }) });
  return running;
}

/** Writes the ready file, if there's one. If that fails, closes the service. */
async function announced(
  service: RunningService,
  readyFile: string | undefined,
  madeToken: string | undefined,
): Promise<RunningService> {
  if (readyFile === undefined) return service;
  try {
    return await announce(readyFile, service, madeToken);
  } catch (thrown) {
    await service.close();
    throw unwritable(readyFile, thrown);
  }
}

function unwritable(file: string, cause: unknown): Problem {
  const message = `Cannot write the ready file: ${(cause as Error).message}`;
  return new Problem({ code: 'SERVE_READY_FILE', family: 'config', message, where: { file }, cause });
}

/** Keys are printed on stdout and never logged, because logs are stored and must not contain keys. */
function sayKey(key: string): void {
  process.stdout.write(
    `Created the company "Local" with one admin. The admin's API key (shown only once):\n\n  ${key}\n\n`,
  );
}

function sayToken(url: string, token: string): void {
  process.stdout.write(`The control interface listens on ${url}. Its token (shown only once):\n\n  ${token}\n\n`);
}

/** If stdout is a terminal, shows the URL, the key and a first request to try. */
function welcome({ data, fixtures }: ServeOptions, service: RunningService, madeToken: string | undefined): string {
  const { url, firstKey, control } = service;
  const known = fixtures === undefined ? 'the one that was shown at the first start' : `defined in ${fixtures}`;
  const lines = [
    ['address', url],
    ['data', data === 'memory' ? 'in memory only' : resolve(data.folder)],
    ['API key', firstKey === undefined ? known : `${firstKey}   (shown only once; the admin of company "Local")`],
    ...(control === undefined ? [] : [['control', control.url]]),
    ...(madeToken === undefined ? [] : [['token', `${madeToken}   (for the control interface; shown only once)`]]),
    ['try', `curl -H 'kf-api-key: ${firstKey ?? 'YOUR-KEY'}' ${url}/datasources`],
  ];
  const shown = lines.map(([what, text]) => `  ${what?.padEnd(9)} ${text}`).join('\n');
  return `The service is listening. Press Ctrl-C to stop.\n\n${shown}`;
}

/**
 * Writes the ready file. A generated control token is secret, so it's written to a second file that only this user can
 * read. The second file is removed when the service stops.
 */
async function announce(file: string, service: RunningService, madeToken?: string): Promise<RunningService> {
  const { url, control } = service;
  const facts = { url, pid: process.pid, ...(control && { control_url: control.url }) };
  if (madeToken === undefined) {
    await writeWhole(file, `${JSON.stringify(facts)}\n`);
    return service;
  }
  const tokenFile = `${resolve(file)}.token`;
  await writeWhole(tokenFile, `${madeToken}\n`, 0o600);
  await writeWhole(file, `${JSON.stringify({ ...facts, control_token_file: tokenFile })}\n`);
  const close = async (): Promise<void> => {
    await rm(tokenFile, { force: true });
    await service.close();
  };
  return { ...service, close };
}

/**
 * The file is replaced atomically, because readers must never see an incomplete file. Another user may be able to
 * create files in its folder, so a link in place of the temporary file is removed, not followed.
 */
async function writeWhole(file: string, text: string, mode = 0o666): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, text, { mode, flag: 'wx' });
  await rename(unfinished, file);
}

interface Flags {
  readonly host: string;
  readonly port: string;
  readonly url?: string;
  readonly cors?: string;
  readonly data: string;
  readonly memory?: true;
  readonly fixtures?: string;
  readonly readyFile?: string;
  readonly uploadLimit?: string;
  readonly requestLog?: string;
  readonly allowPrivateAddresses?: true;
  readonly limits: boolean;
  readonly controlPort?: string;
  readonly controlToken?: string;
  readonly controlTokenFile?: string;
}

/** Parses a flag's value as an integer. Throws a Problem that names the flag if the value isn't an integer. */
function wholeNumber(flag: string, text: string, [min, max]: readonly [number, number]): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const allowed = `a whole number from ${min} to ${max}`;
  throw new Problem({
    code: 'CLI_OPTION',
    family: 'config',
    message: `Invalid value for ${flag}`,
    seen: text,
    allowed,
  });
}

function optionsOf(flags: Flags): Omit<ServeOptions, 'log'> {
  const { host, port, data, memory, fixtures, readyFile, uploadLimit, requestLog, limits, allowPrivateAddresses } =
    flags;
  return {
    host,
    port: wholeNumber('--port', port, [0, 65_535]),
    ...(flags.url !== undefined && { publicUrl: flags.url }),
    ...(flags.cors !== undefined && { corsOrigin: flags.cors }),
    data: memory === true ? 'memory' : { folder: data },
    limits,
    allowPrivateAddresses: allowPrivateAddresses === true,
    fixtures,
    readyFile,
    requestLogFile: requestLog,
    ...(uploadLimit === undefined
      ? {}
      : { uploadLimitBytes: wholeNumber('--upload-limit', uploadLimit, [1, Number.MAX_SAFE_INTEGER]) }),
  };
}

/** The options for the control interface; an empty object without `--control-port`. */
async function controlOf({
  controlPort,
  controlToken,
  controlTokenFile,
}: Flags): Promise<Pick<ServeOptions, 'control'>> {
  if (controlToken !== undefined && controlTokenFile !== undefined) {
    throw optionProblem('Use either --control-token or --control-token-file, not both', 'remove one of them');
  }
  if (controlPort === undefined) {
    if (controlToken === undefined && controlTokenFile === undefined) return {};
    throw optionProblem('A control token requires the control interface', 'add --control-port; 0 picks a free port');
  }
  const token = controlTokenFile === undefined ? controlToken : await tokenIn(controlTokenFile);
  const port = wholeNumber('--control-port', controlPort, [0, 65_535]);
  return { control: { port, ...(token !== undefined && { token }) } };
}

function optionProblem(message: string, next: string): Problem {
  return new Problem({ code: 'CLI_OPTION', family: 'config', message, next });
}

async function tokenIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    const message = `Cannot read the token file: ${(cause as Error).message}`;
    throw new Problem({ code: 'SERVE_TOKEN_FILE', family: 'config', message, where: { file }, cause });
  }
}

/** Runs until SIGINT or SIGTERM, then shuts down cleanly. */
async function run(flags: Flags): Promise<void> {
  const [{ openLogOn }, { pullDatasource }] = await Promise.all([
    import('../output/human-log.ts'),
    import('../pull.ts'),
  ]);
  const log = openLogOn(process.stderr, 'info');
  const stop = onStop();
  try {
    const service = await serve({ ...optionsOf(flags), ...(await controlOf(flags)), log, pull: pullDatasource });
    const signal = await stopped(stop.signal);
    log.info('service is stopping', { signal });
    await service.close();
  } finally {
    stop.done();
  }
}

function stopped(signal: AbortSignal): Promise<string> {
  const name = (): string => (stopCode() === exit.interrupted ? 'SIGINT' : 'SIGTERM');
  return new Promise((done) => {
    if (signal.aborted) done(name());
    signal.addEventListener('abort', () => done(name()), { once: true });
  });
}

export default {
  help: {
    examples: [
      ['sluice serve', 'keep data in ./sluice-service'],
      ['sluice serve --memory --port 0 --ready-file service.json', 'for tests: no files, any free port'],
      [
        'sluice serve --memory --fixtures fixtures.yaml --control-port 0',
        'with predefined users, and faults on request',
      ],
    ],
  },
  register(program: Command): void {
    program
      .command('serve')
      .description('Starts the embedded dashboard service for development and testing.')
      .option('--host <address>', 'address to listen on', '127.0.0.1')
      .option('--port <number>', 'port to listen on; 0 picks a free port', '8080')
      .option('--url <url>', 'URL that clients use, if the service is behind a proxy')
      .option('--cors <origin>', 'origin whose web pages may call the service, such as https://x.example.com, or *')
      .option('--data <folder>', 'data folder', 'sluice-service')
      .addOption(new Option('--memory', 'keep all data in memory').conflicts('data'))
      .option('--fixtures <file>', 'companies, users and keys to start with (YAML or JSON)')
      .option('--ready-file <file>', 'file that receives {"url", "pid"} when the service is ready')
      .option('--upload-limit <bytes>', 'maximum upload size (default: 10485760)')
      .option('--request-log <file>', 'log every request to this file, as JSON lines')
      .option('--allow-private-addresses', 'allow refreshes to fetch from loopback, link-local and private addresses')
      .option('--control-port <number>', 'start the control interface for tests on this port; 0 picks a free port')
      .option('--control-token <token>', 'token of the control interface (default: generated and printed)')
      .option('--control-token-file <file>', 'file that contains the token')
      .option('--no-limits', 'disable rate limits and quotas')
      .action(run);
  },
} satisfies CliCommand;
