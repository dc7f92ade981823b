import { countOf } from '../../lib/count-text.ts';
import { readNote, type ToldFault } from '../config-note.ts';
import type { Found, Ground } from './look.ts';

/** What of the config file the daemon does not go by: parts that it left out for their faults, a reload that it refused. */
export async function differences({ store, overview }: Ground): Promise<Found[]> {
  const { daemon } = overview;
  const note = daemon === undefined ? undefined : await readNote(store, daemon.owner);
  if (note === undefined) return [];
  const { refused, faults, at } = note;
  if (refused !== undefined) return [foundOf('a reload was refused, the former config stays in force', refused)];
  return faults.length === 0 ? [] : [foundOf('the daemon began without what has a fault', { faults, at })];
}

function foundOf(says: string, { faults, at }: { faults: readonly ToldFault[]; at: number }): Found {
  const [first, ...others] = faults;
  const more = others.length === 0 ? '' : `, and ${countOf(others.length, 'more fault')}`;
  const what = first === undefined ? says : `${says}: ${first.says} (${first.place})${more}`;
  return {
    subject: 'config',
    occasion: 'config',
    level: 1,
    cause: '',
    since: at,
    what,
    ...(first === undefined ? {} : { code: first.code }),
  };
}
