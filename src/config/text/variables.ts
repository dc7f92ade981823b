import { below, type Path } from './document.ts';
import type { Faults } from './faults.ts';
import { type Piece, type VariableReports, VariableScan, type VariableSettings } from './variable-scan.ts';
import { closing, secretVariablesIn } from './variable-syntax.ts';

/** A config value that contained variables when it was written. */
interface Resolved {
  /** The value as written in the file. It contains no secret. */
  readonly written: string;
  /** The variables' values. They must be redacted if the option is secret. */
  readonly pieces: readonly Piece[];
  /** True if the value consisted of a single variable. Such a value may be converted to a number or boolean. */
  readonly whole: boolean;
  /** True if a variable wasn't read. The real value may then be anything that the option allows. */
  readonly isUnread: boolean;
}

/** A part of the config with its variables replaced. */
export interface Part {
  readonly path: Path;
  value: unknown;
  /** Information about values that contained variables, by path. */
  readonly resolved: ReadonlyMap<Path, Resolved>;
  /**
   * Paths of values with unresolved variables. Those variables have already been reported, so the values aren't
   * validated.
   */
  readonly broken: ReadonlySet<Path>;
  /** The complete string that this value is a part of, such as `every 15m`, so that errors show the complete string. */
  readonly whole?: Part;
}

/** Returns one option of a part as a part of its own. */
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
 * trailing newlines, and the secret variables declared in `src/secrets/all/`. `$${` is a literal `${`. Works on parsed
 * data, so a resolved value can't change the config's structure.
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
    const scan = new VariableScan(settings, {
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

const unreported: VariableReports = { add: () => undefined, warn: () => undefined };

/**
 * Starts to read all secrets below `value` in parallel, because the parts of a config are resolved one after another.
 * Doesn't report errors. A secret that can't be read is reported when it's used.
 */
export function readAhead(value: unknown, settings: VariableSettings): void {
  if (typeof value === 'string') {
    for (const text of secretVariablesIn(value)) {
      // Don't run commands here, because they would then run twice.
      void new VariableScan({ ...settings, allowCommands: false }, unreported).replace(text).catch(() => undefined);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) readAhead(member, settings);
  }
}
