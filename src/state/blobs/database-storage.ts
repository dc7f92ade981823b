import type { BlobStorage } from './blob-storage.ts';

/** Stores blobs in the state's database, one row per piece. */
export const databaseStorage: BlobStorage = {
  label: 'the database',
  place: 'the database',
  isInDatabase: true,

  async write({ name, db }, pieces) {
    await db.deleteFrom('blob_pieces').where('name', '=', name).execute();
    let number = 0;
    for await (const bytes of pieces()) {
      await db.insertInto('blob_pieces').values({ name, number, bytes }).execute();
      number += 1;
    }
  },

  async *read({ name, db }) {
    for (let number = 0; ; number += 1) {
      const piece = await db
        .selectFrom('blob_pieces')
        .select('bytes')
        .where('name', '=', name)
        .where('number', '=', number)
        .executeTakeFirst();
      if (piece === undefined) return;
      yield piece.bytes;
    }
  },

  async remove({ name, db }) {
    await db.deleteFrom('blob_pieces').where('name', '=', name).execute();
  },
};
