import { isMap } from '../../lib/is-map.ts';
import { below } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import type { Part } from '../text/variables.ts';

/** What the schema of guards cannot know: bounds that leave nothing between them. */
export function checkGuards({ value: guards, path }: Pick<Part, 'value' | 'path'>, faults: Faults): void {
  if (!isMap(guards)) return;
  for (const name of ['rows', 'bytes'] as const) {
    const bounds = guards[name];
    if (!isMap(bounds)) continue;
    const { minimum, maximum } = bounds;
    if (typeof minimum !== 'number' || typeof maximum !== 'number' || minimum <= maximum) continue;
    faults.add({
      code: 'CONFIG_GUARDS',
      message: `No result can pass: the minimum of "${name}" is above its maximum`,
      path: below(below(path, name), 'minimum'),
      seen: `minimum ${minimum}, maximum ${maximum}`,
      next: `Set the minimum to ${maximum} or less, or delete one of them`,
    });
  }
}
