/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
import m0 from './channels/command.ts';
import m1 from './channels/email.ts';
import m2 from './channels/heartbeat.ts';
import m3 from './channels/slack.ts';
import m4 from './channels/webhook.ts';

export const all = {
  'command': m0,
  'email': m1,
  'heartbeat': m2,
  'slack': m3,
  'webhook': m4,
};
