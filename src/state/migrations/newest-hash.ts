/** Hash of the newest schema. Made by "npm run generate" out of the migrations; edits here are lost. */
export const newestHash = 'b905e9fbc04d9142';
