import { spawn } from 'node:child_process';
import { excerpt } from '../../lib/redact.ts';
import type { Send, Sent } from '../channel.ts';

/** More of what a program says is not worth showing. */
const mostShown = 200;
const mostKept = 16_384;
const lastWordsMs = 250;

/**
 * Runs a program without a shell: the event is JSON on its standard input, its main facts are environment variables.
 * Exit code 0 is good. One that takes too long is killed, with what it started where the system knows groups.
 */
export const send: Send<'command'> = ({ command, timeout_seconds }, { id, event, body }, { signal, folder }) => {
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
    let said = '';
    let lateText = '';
    const kill = (why: string) => (): void => {
      lateText = why;
      killGroup(child.pid);
    };
    const timer = setTimeout(kill(`took longer than ${timeout_seconds} s`), timeout_seconds * 1000);
    const cut = kill('was stopped');
    signal.addEventListener('abort', cut, { once: true });
    const done = (sent: Sent): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      // A pipe that a child of its own holds would keep this process from its end.
      child.stderr.destroy();
      resolve(sent);
    };
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      said = `${said}${piece}`.slice(0, mostKept);
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
    child.on('error', (error) => done({ ok: false, said: `could not be run: ${error.message}` }));
    child.on('exit', (code, by) => {
      const end = (): void => done(endOf({ code, by, said, late: lateText }));
      // What it said may still be on its way; a child of its own may hold the pipe for ever.
      child.stderr.once('close', end);
      setTimeout(end, lastWordsMs).unref();
    });
  });
};

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended in between.
  }
}

interface End {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  readonly said: string;
  readonly late: string;
}

function endOf({ code, by, said, late }: End): Sent {
  const words = excerpt(said, mostShown);
  const shown = words === '' ? '' : `: ${words}`;
  if (code === 0) return { ok: true, said: `ended with 0${shown}` };
  const how = late !== '' ? late : code === null ? `was ended by ${by}` : `ended with ${code}`;
  return { ok: false, said: `the program ${how}${shown}` };
}
