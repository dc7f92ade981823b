/** Hash of the newest schema. Made by "npm run generate" out of the migrations; edits here are lost. */
export const newestHash = 'e238211ad9e24263';
