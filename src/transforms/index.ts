import { cast } from './cast.ts';
import { compute } from './compute.ts';
import { distinct } from './distinct.ts';
import { filter } from './filter.ts';
import { limit } from './limit.ts';
import { rename } from './rename.ts';
import { select } from './select.ts';
import { sort } from './sort.ts';
import type { Transform } from './transform.ts';

/** All transforms, in the order in which they are listed to people. */
export const transforms: readonly Transform[] = [select, rename, cast, filter, compute, sort, limit, distinct];
