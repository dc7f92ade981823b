/** Hash of the newest schema. Made by "npm run generate" out of the migrations; edits here are lost. */
export const newestHash = '5c7cde3c153b5106';
