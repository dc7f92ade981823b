import { all } from './all.generated.ts';
import type { Transform } from './transform.ts';

/** All transforms. Each one is a file in `all/`. */
export const transforms: readonly Transform[] = Object.values<Transform>(all);
