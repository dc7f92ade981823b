import { all } from './all.generated.ts';
import type { Transform } from './transform.ts';

/** All transforms: the files of `all/`. */
export const transforms: readonly Transform[] = Object.values<Transform>(all);
