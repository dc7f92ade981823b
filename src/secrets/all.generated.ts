/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
import m0 from './all/aws-sm.ts';
import m1 from './all/azure-kv.ts';
import m2 from './all/gcp-sm.ts';
import m3 from './all/sops.ts';
import m4 from './all/vault.ts';

export const all = {
  'aws-sm': m0,
  'azure-kv': m1,
  'gcp-sm': m2,
  'sops': m3,
  'vault': m4,
};
