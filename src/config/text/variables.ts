import { below, type Path } from './document.ts';
import type { Faults } from './faults.ts';
import { type Piece, type VariableReports, VariableScan, type VariableSettings } from './variable-scan.ts';
import { closing, secretVariablesIn } from './variable-syntax.ts';

/** A config value that contained variables before it was resolved. */
interface Resolved {
  /** As written, safe to show. */
  readonly written: string;
  /** The variables' values, which must be redacted if the option is secret. */
  readonly pieces: readonly Piece[];
  /** True if the value was a single variable, so it may be converted to a number or boolean. */
  readonly whole: boolean;
  /** True if a variable wasn't read, so the value may be anything that the option allows. */
  readonly isUnread: boolean;
}

/** A part of the config with its variables replaced. */
export interface Part {
  readonly path: Path;
  value: unknown;
  /** Values that contained variables, by path. */
  readonly resolved: ReadonlyMap<Path, Resolved>;
  /** Paths of values with unresolved variables. They've already been reported, so they aren't validated. */
  readonly broken: ReadonlySet<Path>;
  /** The string that contains this value, as in `every 15m`, so that errors show the whole string. */
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

/** Whether the value or its enclosing string has an unresolved variable. */
export function isBroken({ path, broken }: Part): boolean {
  return [...broken].some((at) => path === at || path.startsWith(`${at}/`));
}

/**
 * Replaces the variables in every string value (never in a key) below `value`: `${env:NAME}`, `${env:NAME:-default}`,
 * `${file:PATH}` without trailing newlines (the path may contain variables), `${cmd:program arguments}` without
 * trailing newlines, and the variables of `src/secrets/all/`; `$${` is a literal `${`. Works on parsed data, so no
 * resolved value can change the config's structure.
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
 * Starts to read all secrets below `value` in parallel, because the parts of a config are resolved one after the other.
 * Doesn't report errors: a secret that can't be read is reported where it's used.
 */
export function readAhead(value: unknown, settings: VariableSettings): void {
  if (typeof value === 'string') {
    for (const text of secretVariablesIn(value)) {
      // Commands would run twice.
      void new VariableScan({ ...settings, allowCommands: false }, unreported).replace(text).catch(() => undefined);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) readAhead(member, settings);
  }
}
