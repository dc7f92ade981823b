import { Problem, type RunWarning } from '#sdk';

/** A warning from the server about a statement. */
export interface ServerWarning {
  /** Its number or SQLSTATE. */
  readonly code: string;
  readonly message: string;
}

/** The server's warnings about one statement. */
export interface ServerWarnings {
  readonly list: readonly ServerWarning[];
  /** False if the server returned only some of the warnings. */
  readonly isAll: boolean;
}

/** Whether to report the server's warnings or to fail the run. */
export type WarningsOption = 'tell' | 'refuse';

interface WarningContext {
  /** The server's name in messages. */
  readonly place: string;
  readonly option: WarningsOption;
  readonly warn: ((warning: RunWarning) => void) | undefined;
  /** The fix to suggest for each warning code. */
  readonly fixes?: Readonly<Record<string, string>>;
}

/** Adds the warnings to the run, grouped by code. Throws if `option` is `refuse` and there are warnings. */
export function reportWarnings(
  { list, isAll }: ServerWarnings,
  { place, option, warn, fixes = {} }: WarningContext,
): void {
  const byCode = Map.groupBy(list, ({ code }) => code);
  const many = isAll ? '' : 'at least ';
  const warnings = [...byCode].map(([code, [first, ...more]]): RunWarning => {
    const fix = fixes[code];
    return {
      code: 'DB_WARNING',
      message: `the database at ${place} warns: ${first!.message}${more.length === 0 ? '' : ` (and ${many}${more.length} more)`}`,
      seen: code,
      next: fix,
    };
  });
  if (option === 'refuse' && warnings.length > 0) throw refused(warnings);
  for (const warning of warnings) warn?.(warning);
}

function refused(warnings: readonly RunWarning[]): Problem {
  return new Problem({
    code: 'DB_WARNING',
    family: 'job',
    message: warnings.map(({ message }) => message).join('; '),
    seen: warnings.map(({ seen }) => seen).join(', '),
    next: warnings.find(({ next }) => next !== undefined)?.next ?? 'fix the query, or set warnings: tell',
  });
}
