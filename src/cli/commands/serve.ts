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
  /** A folder, or memory that leaves nothing behind. */
  readonly data: { readonly folder: string } | 'memory';
  readonly fixtures?: string;
  /** Gets `{"url", "pid"}` once the service listens, and where its control interface is. */
  readonly readyFile?: string;
  readonly uploadLimitBytes?: number;
  readonly limits: boolean;
  readonly requestLogFile?: string;
  readonly allowPrivateAddresses?: boolean;
  readonly pull?: Pull;
  /** Starts the control interface; without a token one is made and shown. */
  readonly control?: { readonly port: number; readonly token?: string };
  readonly log: Log;
}

/** Starts the service, says where it is, and shows the first admin's key on the one start that made it. */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { startService } = await import('../../service/service.ts');
  const service = await startService(options);
  const { url, firstKey, control } = service;
  const madeToken = options.control?.token === undefined ? control?.token : undefined;
  if (process.stdout.isTTY === true) process.stdout.write(`${welcome(options, service, madeToken)}\n\n`);
  else {
    if (firstKey !== undefined) sayKey(firstKey);
    if (madeToken !== undefined) sayToken(control!.url, madeToken);
  }
  options.log.info('service is listening', { url, pid: process.pid, ...(control && { control_url: control.url }) });
  try {
    if (options.readyFile === undefined) return service;
    return await announce(options.readyFile, service, madeToken);
  } catch (thrown) {
    await service.close();
    throw unwritable(options.readyFile!, thrown);
  }
}

function unwritable(file: string, cause: unknown): Problem {
  const message = `the ready file cannot be written: ${(cause as Error).message}`;
  return new Problem({ code: 'SERVE_READY_FILE', family: 'config', message, where: { file }, cause });
}

/** On standard output, never in the log: a log is kept, a key must not be. */
function sayKey(key: string): void {
  process.stdout.write(`Created the company "Local" with one admin. Its API key, shown this once:\n\n  ${key}\n\n`);
}

function sayToken(url: string, token: string): void {
  process.stdout.write(`The control interface is at ${url}. Its token, shown this once:\n\n  ${token}\n\n`);
}

/** For a person at a terminal: where, with what key, and what to try first. */
function welcome({ data, fixtures }: ServeOptions, service: RunningService, madeToken: string | undefined): string {
  const { url, firstKey, control } = service;
  const known = fixtures === undefined ? 'the one shown at the first start' : `those of ${fixtures}`;
  const lines = [
    ['address', url],
    ['data', data === 'memory' ? 'in memory, gone at the end' : resolve(data.folder)],
    ['API key', firstKey === undefined ? known : `${firstKey}   (shown this once; the admin of company "Local")`],
    ...(control === undefined ? [] : [['control', control.url]]),
    ...(madeToken === undefined ? [] : [['token', `${madeToken}   (of the control interface; shown this once)`]]),
    ['try', `curl -H 'kf-api-key: ${firstKey ?? 'YOUR-KEY'}' ${url}/datasources`],
  ];
  const shown = lines.map(([what, text]) => `  ${what?.padEnd(9)} ${text}`).join('\n');
  return `The service is listening. Ctrl-C ends it.\n\n${shown}`;
}

/**
 * Writes the ready file. A control token of our own making is a secret, so it stands in a file beside it that only we
 * can read, and goes when the service ends.
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

/** Whoever waits for the file must never see half of it. */
async function writeWhole(file: string, text: string, mode = 0o666): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`;
  await writeFile(unfinished, text, { mode });
  await rename(unfinished, file);
}

interface Flags {
  readonly host: string;
  readonly port: string;
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

/** A flag that is a whole number, or a Problem that names the flag. */
function wholeNumber(flag: string, text: string, [least, most]: readonly [number, number]): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const allowed = `a whole number from ${least} to ${most}`;
  throw new Problem({ code: 'CLI_OPTION', family: 'config', message: `${flag} is not right`, seen: text, allowed });
}

function optionsOf(flags: Flags): Omit<ServeOptions, 'log'> {
  const { host, port, data, memory, fixtures, readyFile, uploadLimit, requestLog, limits, allowPrivateAddresses } =
    flags;
  return {
    host,
    port: wholeNumber('--port', port, [0, 65_535]),
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

/** The control interface that the flags ask for; none unless they name its port. */
async function controlOf({
  controlPort,
  controlToken,
  controlTokenFile,
}: Flags): Promise<Pick<ServeOptions, 'control'>> {
  if (controlToken !== undefined && controlTokenFile !== undefined) {
    throw optionProblem('--control-token and --control-token-file cannot be given together', 'give one of them');
  }
  if (controlPort === undefined) {
    if (controlToken === undefined && controlTokenFile === undefined) return {};
    throw optionProblem('a control token is given, and no control interface', 'add --control-port; 0 takes a free one');
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
    const message = `the token file cannot be read: ${(cause as Error).message}`;
    throw new Problem({ code: 'SERVE_TOKEN_FILE', family: 'config', message, where: { file }, cause });
  }
}

/** Runs until SIGINT or SIGTERM, then ends cleanly. */
async function run(flags: Flags): Promise<void> {
  const [{ openLogOn }, { pullDatasource }] = await Promise.all([import('../human-log.ts'), import('../pull.ts')]);
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

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('serve')
      .description('Starts the embedded service: the place to push to while developing and testing.')
      .option('--host <address>', 'address to listen on', '127.0.0.1')
      .option('--port <number>', 'port to listen on; 0 takes a free one', '8080')
      .option('--data <folder>', 'where everything is kept', 'sluice-service')
      .addOption(new Option('--memory', 'keep everything in memory and leave nothing behind').conflicts('data'))
      .option('--fixtures <file>', 'companies, users and keys to start with (YAML or JSON)')
      .option('--ready-file <file>', 'gets {"url", "pid"} once the service listens')
      .option('--upload-limit <bytes>', 'largest document that a data source takes (default: 10485760)')
      .option('--request-log <file>', 'write every request as a line of JSON')
      .option('--allow-private-addresses', 'let refreshes fetch from loopback, link-local and private addresses')
      .option('--control-port <number>', 'start the control interface for tests on this port; 0 takes a free one')
      .option('--control-token <token>', 'what the control interface asks for; made and shown when not given')
      .option('--control-token-file <file>', 'a file that holds that token')
      .option('--no-limits', 'refuse no call for being one too many')
      .action(run);
  },
};
export default command;
