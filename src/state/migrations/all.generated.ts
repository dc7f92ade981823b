/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
import m0 from './001-first-schema.ts';

export const all = {
  '001-first-schema': m0,
};
