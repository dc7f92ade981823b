import { defineTransform } from '../transform.ts';

/** Stops reading the source after this many rows. The result ends there. */
export default defineTransform<number>({
  id: 'limit',
  title: 'Limit',
  summary: 'Stops reading the source after this many rows. The result ends there.',
  schema: {
    type: 'integer',
    minimum: 0,
    description: 'Maximum number of rows. The source is closed as soon as that many rows have been read.',
    examples: [1000],
  },
  prepare(most, columns) {
    let left = most;
    return {
      columns,
      apply(batch) {
        if (left === 0) return null;
        const length = Math.min(left, batch.length);
        left -= length;
        return length === batch.length ? batch : { ...batch, length };
      },
      get satisfied() {
        return left === 0;
      },
    };
  },
});
