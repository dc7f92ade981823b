/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
import m0 from './all/cast.ts';
import m1 from './all/compute.ts';
import m2 from './all/distinct.ts';
import m3 from './all/filter.ts';
import m4 from './all/limit.ts';
import m5 from './all/rename.ts';
import m6 from './all/select.ts';
import m7 from './all/sort.ts';

export const all = {
  'cast': m0,
  'compute': m1,
  'distinct': m2,
  'filter': m3,
  'limit': m4,
  'rename': m5,
  'select': m6,
  'sort': m7,
};
