/** Hash of the newest schema. Made by "npm run generate" out of the migrations; edits here are lost. */
export const newestHash = '7c7269db46a0b7f5';
