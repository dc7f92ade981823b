/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
import m0 from './all/csv.ts';
import m1 from './all/json.ts';
import m2 from './all/ndjson.ts';
import m3 from './all/xml.ts';

export const all = {
  'csv': m0,
  'json': m1,
  'ndjson': m2,
  'xml': m3,
};
