import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { Problem } from '../../lib/problem.ts';
import type { Environment } from '../../lib/run-program.ts';
import { secretProviders } from '../../secrets/index.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import { below, type Path } from './document.ts';
import type { Faults } from './faults.ts';
import { runCommand } from './run-command.ts';
import { closing, secretVariablesIn } from './variable-syntax.ts';

export interface VariableSettings {
  readonly env: Environment;
  /** Base of relative paths in `${file:…}`, and working directory of commands. */
  readonly folder: string;
  readonly allowCommands: boolean;
  /** Reads `${vault:…}` and the like; absent: they aren't allowed here. */
  readonly secrets?: Pick<SecretReader, 'read'>;
  /** Stops commands that are still running. */
  readonly signal?: AbortSignal;
  /**
   * Reads no secrets and runs no commands: a variable without a value here is replaced with a placeholder, which counts
   * as valid.
   */
  readonly withoutSecrets?: boolean;
}

/** A config value that contained variables. */
interface Resolved {
  /** As written, safe to show. */
  readonly written: string;
  /** The value of each variable, which must be redacted if the option is secret. */
  readonly pieces: readonly Piece[];
  /** The value was a single variable, so it may be converted to a number or boolean. */
  readonly whole: boolean;
  /** A variable wasn't read, so the value may be anything that the option allows. */
  readonly isUnread: boolean;
}

export interface Piece {
  /** The name of the environment variable, file, command or secret. */
  readonly name: string;
  readonly text: string;
  /** The absolute path of the file that contains the value; absent for other variables. */
  readonly file?: string;
}

/** A part of the config with its variables replaced. */
export interface Part {
  readonly path: Path;
  value: unknown;
  /** Values that contained variables, by path. */
  readonly resolved: ReadonlyMap<Path, Resolved>;
  /** Values with unresolved variables: already reported, so they aren't validated. */
  readonly broken: ReadonlySet<Path>;
  /** The string that contains this value, as in `every 15m`: errors show the whole string. */
  readonly whole?: Part;
}

/** One option of a part, as a part. */
export function partAt(part: Part, ...keys: (string | number)[]): Part {
  const value = keys.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined | null)?.[key],
    part.value,
  );
  return { ...part, path: keys.reduce<Path>(below, part.path), value };
}

/** Whether the value, or the string that contains it, has an unresolved variable. */
export function isBroken({ path, broken }: Part): boolean {
  return [...broken].some((at) => path === at || path.startsWith(`${at}/`));
}

/**
 * Replaces the variables in every string value (never in a key) below `value`: `${env:NAME}`, `${env:NAME:-default}`,
 * `${file:PATH}` without trailing newlines (the path may contain variables), `${cmd:program arguments}` without
 * trailing newlines, and the variables of `src/secrets/all/`; `$${` is a literal `${`. Works on parsed data, so nothing
 * in a resolved value can change the structure of the config.
 */
export async function resolvePart(
  given: { path: Path; value: unknown },
  settings: VariableSettings,
  faults: Faults,
): Promise<Part> {
  const resolved = new Map<Path, Resolved>();
  const broken = new Set<Path>();
  const walk = async (value: unknown, path: Path): Promise<unknown> => {
    if (typeof value === 'string') return text(value, path);
    if (Array.isArray(value)) return Promise.all(value.map((item, i) => walk(item, below(path, i))));
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).map(
      async ([key, item]) => [key, await walk(item, below(path, key))] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  const text = async (written: string, path: Path): Promise<string> => {
    if (!written.includes('${')) return written;
    const scan = new Scan(settings, {
      add: (fault) => {
        broken.add(path);
        faults.add({ path, ...fault });
      },
      warn: (fault) => faults.warn({ path, ...fault }),
    });
    const replaced = await scan.replace(written);
    const whole = written.startsWith('${') && closing(written, 2) === written.length - 1;
    const { pieces, isUnread } = scan;
    if (isUnread) faults.unread(path, written);
    if (pieces.length > 0 || isUnread) resolved.set(path, { written, pieces, whole, isUnread });
    return replaced;
  };
  return { path: given.path, value: await walk(given.value, given.path), resolved, broken };
}

interface VariableFault {
  readonly code: string;
  readonly message: string;
  readonly within: string;
  readonly seen?: string | undefined;
  readonly allowed?: string | undefined;
  readonly next?: string | undefined;
}

const ownForms = ['env:NAME', 'env:NAME:-default', 'file:PATH', 'cmd:program arguments'];
const forms = [...ownForms, ...[...secretProviders].map(([id, { form }]) => `${id}:${form}`)];

/**
 * Starts to read all secrets below `value` together, because the parts of a config are resolved one after the other.
 * Reports nothing: a secret that can't be read is reported where it's used.
 */
export function readAhead(value: unknown, settings: VariableSettings): void {
  if (typeof value === 'string') {
    for (const text of secretVariablesIn(value)) {
      // Commands would run twice.
      void new Scan({ ...settings, allowCommands: false }, unreported).replace(text).catch(() => undefined);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) readAhead(member, settings);
  }
}

interface VariableReports {
  readonly add: (fault: VariableFault) => void;
  readonly warn: (fault: VariableFault) => void;
}

const unreported: VariableReports = { add: () => undefined, warn: () => undefined };

class Scan {
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

  /** Resolves variables inside a variable, which aren't secret. Undefined if one of them is unresolved or unread. */
  async #inner(written: string): Promise<string | undefined> {
    let isWhole = true;
    const add = (fault: VariableFault): void => {
      isWhole = false;
      this.#reports.add(fault);
    };
    const scan = new Scan(this.#settings, { ...this.#reports, add });
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
      // The variable may be a secret that exists only on the daemon's machine, or a mistake.
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
    const next = "run it manually in the config's folder and check its standard error";
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

  /** An unresolved variable stays as written. */
  #fault(fault: VariableFault): string {
    this.#reports.add(fault);
    return fault.within;
  }
}

/** A placeholder for an unread variable, which may be part of a URL or a header. */
function textFor(variable: string): string {
  return `unread-${variable.replaceAll(/[^A-Za-z\d]+/g, '-').replaceAll(/^-|-$/g, '')}`;
}

/** A file's content or a program's output as a value, without a byte order mark and trailing line breaks. */
export function fileValue(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/[\r\n]+$/, '');
}
