/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
import m0 from './all/vault.ts';

export const all = {
  'vault': m0,
};
