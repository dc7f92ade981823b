import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { Problem, type ProblemOptions } from '../../lib/problem.ts';
import type { Environment } from '../../lib/run-program.ts';
import { secretProviders } from '../../secrets/index.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import { runCommand } from './run-command.ts';
import { closing } from './variable-syntax.ts';

export interface VariableSettings {
  readonly env: Environment;
  /** The base folder for relative paths in `${file:…}`, and the working directory for commands. */
  readonly folder: string;
  readonly allowCommands: boolean;
  /** Reads variables such as `${vault:…}`. If absent, variables of this kind aren't allowed. */
  readonly secrets?: Pick<SecretReader, 'read'>;
  /** Stops commands that are still running. */
  readonly signal?: AbortSignal;
  /**
   * If true, no secrets are read and no commands are run. A variable whose value is unknown here is replaced with a
   * placeholder that is accepted as valid.
   */
  readonly withoutSecrets?: boolean;
}

export interface Piece {
  /** The name of the environment variable, file, command or secret that the value came from. */
  readonly name: string;
  readonly text: string;
  /** Absolute path of the file that contains the value. Absent for other kinds of variables. */
  readonly file?: string;
}

interface VariableFault extends Pick<ProblemOptions, 'code' | 'message' | 'seen' | 'allowed' | 'next'> {
  readonly within: string;
}

const ownForms = ['env:NAME', 'env:NAME:-default', 'file:PATH', 'cmd:program arguments'];
const forms = [...ownForms, ...[...secretProviders].map(([id, { form }]) => `${id}:${form}`)];

export interface VariableReports {
  readonly add: (fault: VariableFault) => void;
  readonly warn: (fault: VariableFault) => void;
}

/** Replaces the variables in one string, from left to right. */
export class VariableScan {
  readonly pieces: Piece[] = [];
  isUnread = false;
  readonly #settings: VariableSettings;
  readonly #reports: VariableReports;

  constructor(settings: VariableSettings, reports: VariableReports) {
    this.#settings = settings;
    this.#reports = reports;
  }

  async replace(text: string): Promise<string> {
    let out = '';
    let at = 0;
    for (let open = text.indexOf('${'); open >= 0; open = text.indexOf('${', at)) {
      if (text[open - 1] === '$' && open - 1 >= at) {
        out += `${text.slice(at, open - 1)}\${`;
        at = open + 2;
        continue;
      }
      const close = closing(text, open + 2);
      if (close < 0) {
        this.#reports.add({
          code: 'CONFIG_VARIABLE',
          message: `A variable that starts with "\${" has no closing "}"`,
          within: text.slice(open),
          next: `add the closing "}", or write "$\${" for a literal "\${"`,
        });
        return text;
      }
      out += text.slice(at, open) + (await this.#value(text.slice(open + 2, close), text.slice(open, close + 1)));
      at = close + 1;
    }
    return out + text.slice(at);
  }

  #value(inner: string, within: string): Promise<string> | string {
    const colon = inner.indexOf(':');
    const kind = inner.slice(0, colon).trim();
    const rest = inner.slice(colon + 1);
    if (kind === 'env') return this.#env(rest, within);
    if (kind === 'file') return this.#file(rest.trim(), within);
    if (kind === 'cmd') return this.#command(rest.trim(), within);
    if (secretProviders.has(kind)) return this.#secret(kind, rest.trim(), within);
    return this.#fault({
      code: 'CONFIG_VARIABLE',
      message: `"${within}" is not a valid variable`,
      within,
      allowed: forms.map((form) => `\${${form}}`).join(', '),
      next: /^\w+$/.test(inner)
        ? `write \${env:${inner}}, or $${within} for the literal text`
        : `write $${within} for the literal text`,
    });
  }

  async #env(rest: string, within: string): Promise<string> {
    const split = rest.indexOf(':-');
    const name = (split < 0 ? rest : rest.slice(0, split)).trim();
    const value = this.#settings.env[name];
    if (split >= 0 && (value === undefined || value === '')) return this.replace(rest.slice(split + 2));
    if (value !== undefined) return this.#piece(name, value);
    if (this.#settings.withoutSecrets && name !== '') return this.#unread(within);
    return this.#fault({
      code: 'CONFIG_VARIABLE_UNDEFINED',
      message: `The environment variable ${name || '(without a name)'} is not set`,
      within,
      next: `set it before starting Sluice (export ${name || 'NAME'}=…), or give a default: \${env:${name || 'NAME'}:-value}`,
    });
  }

  /**
   * Resolves the variables inside another variable. The resolved text isn't secret. Returns undefined if one of the
   * inner variables is unresolved or unread.
   */
  async #inner(written: string): Promise<string | undefined> {
    let isWhole = true;
    const add = (fault: VariableFault): void => {
      isWhole = false;
      this.#reports.add(fault);
    };
    const scan = new VariableScan(this.#settings, { ...this.#reports, add });
    const text = await scan.replace(written);
    this.isUnread ||= scan.isUnread;
    return isWhole && !scan.isUnread ? text : undefined;
  }

  async #secret(provider: string, written: string, within: string): Promise<string> {
    const { secrets } = this.#settings;
    const name = await this.#inner(written);
    if (name === undefined) return this.isUnread ? textFor(within) : within;
    if (secrets === undefined) {
      return this.#fault({
        code: 'CONFIG_VARIABLE',
        message: `"${within}" is not allowed here, because this option is needed before secrets are read`,
        within,
        allowed: ownForms.map((form) => `\${${form}}`).join(', '),
      });
    }
    if (this.#settings.withoutSecrets) return this.#unread(within);
    try {
      return this.#piece(`${provider}:${name}`, await secrets.read(provider, name));
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      const { code, message, seen, allowed, next } = thrown;
      return this.#fault({ code, message, within, seen, allowed, next });
    }
  }

  async #file(written: string, within: string): Promise<string> {
    const path = await this.#inner(written);
    if (path === undefined) return this.isUnread ? textFor(within) : within;
    const file = resolve(this.#settings.folder, path);
    try {
      return this.#piece(path, fileValue(await readFile(file, 'utf8')), file);
    } catch (error) {
      const reason =
        (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : String((error as Error).message);
      const fault = {
        code: 'CONFIG_VARIABLE_FILE',
        message: `The file ${path} ${reason === 'does not exist' ? reason : `cannot be read: ${reason}`}`,
        within,
        next:
          (error as NodeJS.ErrnoException).code === 'EACCES'
            ? `give user ID ${process.getuid?.() ?? '?'} read access to the file and its parent folders`
            : `paths are relative to the config's folder, ${this.#settings.folder}`,
      };
      if (!this.#settings.withoutSecrets) return this.#fault(fault);
      // The variable may be a mistake, or a secret that exists only on the daemon's machine.
      if (!isAbsolute(path)) this.#reports.warn(fault);
      return this.#unread(within);
    }
  }

  async #command(line: string, within: string): Promise<string> {
    if (!this.#settings.allowCommands) {
      return this.#fault({
        code: 'CONFIG_COMMANDS_REFUSED',
        message: 'Commands are not allowed in this config',
        within,
        next: 'write "allow_commands: true" at the top level if everyone who can edit this file is allowed to run programs here',
      });
    }
    if (this.#settings.withoutSecrets) return this.#unread(within);
    const ran = await runCommand(line, {
      cwd: this.#settings.folder,
      env: this.#settings.env,
      signal: this.#settings.signal,
    });
    if (ran.ok) return this.#piece(line, fileValue(ran.output));
    const next = "run the command manually in the config's folder, and check its standard error";
    return this.#fault({ code: 'CONFIG_VARIABLE_COMMAND', message: ran.reason, within, next });
  }

  #piece(name: string, text: string, file?: string): string {
    this.pieces.push({ name, text, ...(file === undefined ? {} : { file }) });
    return text;
  }

  #unread(within: string): string {
    this.isUnread = true;
    return textFor(within);
  }

  /** Leaves an unresolved variable as written. */
  #fault(fault: VariableFault): string {
    this.#reports.add(fault);
    return fault.within;
  }
}

/** Returns a placeholder for an unread variable. The variable may be part of a URL or a header. */
function textFor(variable: string): string {
  return `unread-${variable.replaceAll(/[^A-Za-z\d]+/g, '-').replaceAll(/^-|-$/g, '')}`;
}

/** Returns a file's content or a program's output as a value, without a byte order mark or trailing line breaks. */
export function fileValue(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/[\r\n]+$/, '');
}
