/** Hash of the newest schema. Made by "npm run generate" out of the migrations; edits here are lost. */
export const newestHash = '4c61c6ed918c3f22';
