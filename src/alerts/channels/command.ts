import { spawn } from 'node:child_process';
import type { Values } from '../../config/options/field.ts';
import { beginningOf, excerpt } from '../../lib/redact.ts';
import { option } from '../../sdk/option.ts';
import { defineChannel, type Post, type Sent, type Surroundings } from '../channel.ts';
import { text, timeout } from '../channel-options.ts';

const options = {
  command: option.schema<readonly string[]>(
    { type: 'array', items: text, minItems: 1 },
    {
      required: true,
      about:
        "Program and its arguments, run without a shell in the config file's folder. It receives the alert as JSON on standard input and in SLUICE_ALERT_… variables. Requires `allow_commands: true`.",
      example: ['/usr/local/bin/page', '--urgent'],
    },
  ),
  timeout_seconds: timeout,
};

/** Maximum number of characters of the output to show. */
const maxShown = 200;
const maxKept = 16_384;
const lastWordsMs = 250;

/**
 * Runs a program without a shell. The program receives the event as JSON on stdin and the main facts as environment
 * variables. Exit code 0 means success. If the program times out, its process group is killed.
 */
export default defineChannel({ options, runsPrograms: true, send });

function send(
  { command, timeoutMs }: Values<typeof options>,
  { id, event, body }: Post,
  { signal, folder }: Surroundings,
): Promise<Sent> {
  const [program = '', ...args] = command;
  const { title, text, occasion = '', open } = event.data;
  const env = {
    ...process.env,
    SLUICE_ALERT_ID: id,
    SLUICE_ALERT_TYPE: event.type,
    SLUICE_ALERT_OCCASION: occasion,
    SLUICE_ALERT_TITLE: title,
    SLUICE_ALERT_TEXT: text,
    SLUICE_ALERT_OPEN: String(open),
  };
  return new Promise<Sent>((resolve) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'ignore', 'pipe'], detached: true });
    let output = '';
    let lateText = '';
    const kill = (why: string) => (): void => {
      lateText = why;
      killGroup(child.pid);
    };
    const timer = setTimeout(kill(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    const cut = kill('was stopped');
    signal.addEventListener('abort', cut, { once: true });
    const done = (sent: Sent): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      // If a child of the program has inherited one of the pipes, this pipe would keep the process alive.
      child.stderr.destroy();
      resolve(sent);
    };
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      // Keeps one character more than is shown. If it's present, the output was truncated.
      output = `${output}${piece}`.slice(0, maxKept + 1);
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
    child.on('error', (error) => done({ ok: false, message: `could not be run: ${error.message}` }));
    child.on('exit', (code, by) => {
      const end = (): void => done(endOf({ code, by, output, late: lateText }));
      // Waits only briefly for more output, because a child of the program may keep the pipe open.
      child.stderr.once('close', end);
      setTimeout(end, lastWordsMs).unref();
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

interface End {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  readonly output: string;
  readonly late: string;
}

function endOf({ code, by, output, late }: End): Sent {
  const words = excerpt(beginningOf(output, maxKept), maxShown);
  const shown = words === '' ? '' : `: ${words}`;
  if (code === 0) return { ok: true, message: `ended with 0${shown}` };
  const how = late !== '' ? late : code === null ? `was ended by ${by}` : `ended with ${code}`;
  return { ok: false, message: `the program ${how}${shown}` };
}
