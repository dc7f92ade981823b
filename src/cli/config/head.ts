import type { Refusal, Taken, ToldFault } from '../../daemon/config-note.ts';
import { instantText } from '../figures.ts';
import type { Found } from './show.ts';

/** As many digits of a hash as tell two texts apart. */
const shortHash = 12;

/** What a config is that is about to be shown: who goes by it, since when, and what has happened to its file. */
export function configHead({ daemon, file, sha256, taken, left_out }: Found, { asked }: { asked: boolean }): string {
  const text = `${file} (sha256 ${sha256.slice(0, shortHash)}…)`;
  if (taken !== undefined) {
    return [
      `In force: the daemon (${daemon}) took ${text} at ${instantText(taken.at)}.`,
      ...faultText('Left out then, for their faults:', taken.faults),
      ...fileText(taken),
    ].join('\n');
  }
  const left = left_out === undefined ? '' : `\nCannot run until the config is mended: ${left_out.join(', ')}`;
  if (asked) return `On disk: ${text}. What the daemon goes by: sluice config show${left}`;
  return `No daemon is running on this state folder. This is what the next start takes from ${text}.${left}`;
}

function fileText({ differs, refused }: Omit<Taken, 'file' | 'sha256'>): string[] {
  if (refused !== undefined) return refusedText(refused);
  return differs
    ? ['The file says something else by now: "sluice check", then SIGHUP (systemctl reload) puts it in force.']
    : ['The file says the same.'];
}

function refusedText({ at, sha256, faults }: Refusal): string[] {
  const title = `A reload was refused at ${instantText(at)} (sha256 ${sha256.slice(0, shortHash)}…), so this stays in force:`;
  return faultText(title, faults);
}

function faultText(title: string, faults: readonly ToldFault[]): string[] {
  if (faults.length === 0) return [];
  return [title, ...faults.map(({ code, place, says }) => `  ${place}  ${code}: ${says}`)];
}
