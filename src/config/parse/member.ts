import { namePattern, nameSchema } from '../options/names.ts';
import { below, type Path } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, resolvePart } from '../text/variables.ts';
import type { LoadContext } from './context.ts';

/** One entry of `destinations`, `sources` or `jobs` as written in the file. */
export interface Member {
  readonly map: 'destinations' | 'sources' | 'jobs';
  readonly name: string;
  readonly value: unknown;
  readonly faults: Faults;
}

export function memberPath({ map, name }: Member): Path {
  return below(`/${map}`, name);
}

/** Resolves the entry's variables, and validates the entry's name. */
export async function openMember(member: Member, { env, top, parts }: LoadContext): Promise<Part> {
  const path = memberPath(member);
  if (!namePattern.test(member.name)) {
    const allowed = String(nameSchema.description);
    member.faults.add({
      code: 'CONFIG_NAME',
      message: `"${member.name}" is not a valid name`,
      path,
      on: 'key',
      allowed,
    });
  }
  const part = await resolvePart({ path, value: member.value }, { env, ...top }, member.faults);
  parts.push(part);
  return part;
}
