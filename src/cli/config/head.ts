import type { ShownConfig } from '../../config/show/show-config.ts';
import type { ActiveRecord, RecordedFault, RejectedConfig } from '../../daemon/config/config-record.ts';
import { instantText } from '../output/format.ts';

/** Number of hash digits that are sufficient to distinguish two files. */
const shortHash = 12;

/** A config, and the daemon that uses it. */
export interface FoundConfig extends ShownConfig {
  /** The daemon that uses the config; undefined if the config was read from the file. */
  readonly daemon?: string;
  readonly file: string;
  readonly sha256: string;
  /** When and with which errors the daemon loaded the config; undefined if no daemon uses it. */
  readonly taken?: Omit<ActiveRecord, 'file' | 'sha256'>;
  /** The jobs in the file that can't run because the file has errors. */
  readonly left_out?: readonly string[];
}

/**
 * The header above a config. It says which daemon uses the config, since when, and whether the file has changed since
 * then.
 */
export function configHead(
  { daemon, file, sha256, taken, left_out }: FoundConfig,
  { asked }: { asked: boolean },
): string {
  const text = `${file} (sha256 ${sha256.slice(0, shortHash)}…)`;
  if (taken !== undefined) {
    return [
      `Active: the daemon (${daemon}) loaded ${text} at ${instantText(taken.at)}.`,
      ...faultText('Left out because of errors:', taken.faults),
      ...fileText(taken),
    ].join('\n');
  }
  const left = left_out === undefined ? '' : `\nCannot run until the config is fixed: ${left_out.join(', ')}`;
  if (asked) return `On disk: ${text}. To show the daemon's config: sluice config show${left}`;
  return `No daemon is running for this state. The next start would load this config from ${text}.${left}`;
}

function fileText({ differs, refused }: Omit<ActiveRecord, 'file' | 'sha256'>): string[] {
  if (refused !== undefined) return refusedText(refused);
  return differs
    ? ['The file has been edited since. To activate it: "sluice check", then "sluice reload".']
    : ['The file is unchanged.'];
}

function refusedText({ at, sha256, faults }: RejectedConfig): string[] {
  const title = `A reload was refused at ${instantText(at)} (sha256 ${sha256.slice(0, shortHash)}…), so this config stays active:`;
  return faultText(title, faults);
}

function faultText(title: string, faults: readonly RecordedFault[]): string[] {
  if (faults.length === 0) return [];
  return [title, ...faults.map(({ code, place, message }) => `  ${place}  ${code}: ${message}`)];
}
