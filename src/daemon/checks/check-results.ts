import { redact } from '../../lib/redact.ts';
import type { Store } from '../../state/store.ts';
import type { CheckSourceResult } from './check-source.ts';

/** The result of a source's last check. All instants are in epoch milliseconds. */
export interface SourceCheck {
  readonly source: string;
  readonly at: number;
  /** The reason why the source didn't respond; absent if it did. */
  readonly trouble?: {
    /** The time when the source stopped responding. */
    readonly since: number;
    readonly code: string;
    readonly message: string;
    readonly next?: string;
  };
}

const prefix = 'check:';

/** Returns each source's last check, by source name. Sources that were never checked have no entry. */
export async function readChecks({ settings }: Pick<Store, 'settings'>): Promise<Map<string, SourceCheck>> {
  const rows = await settings.below(prefix);
  return new Map(rows.map(({ value }) => JSON.parse(value) as SourceCheck).map((one) => [one.source, one]));
}

/** Stores a check result. Secrets are redacted. */
export async function saveCheck(
  { settings }: Pick<Store, 'settings'>,
  answer: CheckSourceResult,
  { source, at, before }: { source: string; at: number; before: SourceCheck | undefined },
): Promise<SourceCheck> {
  const check: SourceCheck = { source, at, ...troubleOf(answer, before?.trouble?.since ?? at) };
  await settings.set(`${prefix}${source}`, JSON.stringify(check));
  return check;
}

function troubleOf(answer: CheckSourceResult, since: number): Pick<SourceCheck, 'trouble'> {
  if ('message' in answer) return {};
  const { code, message, next } = answer.problem;
  const advice = next === undefined ? {} : { next: redact(next) };
  return { trouble: { since, code, message: redact(message), ...advice } };
}
