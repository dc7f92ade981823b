import { option } from '#sdk';

/** The options that make a query incremental. */
export const incrementalOptions = {
  cursor: option.text({
    about:
      'A column whose value increases with every added or changed record. A run then requests only the records since the highest value of the last run: put `{{ since }}` into the request. `write` controls what happens to earlier rows.',
    example: 'updated_at',
  }),
  lag: option.schema<string | number | undefined>(
    { type: ['integer', 'string'], minimum: 0, pattern: '^[0-9]{1,9}[smhd]$' },
    {
      about:
        'With cursor: how far before the highest value the next run starts, so that it finds records that appeared late. Examples: 30s, 10m, 2h, 1d; for a numeric column, a number. Records that were already read are skipped.',
      example: '10m',
    },
  ),
  start: option.schema<string | number | undefined>(
    { type: ['integer', 'string'], minLength: 1 },
    {
      about: 'With cursor: the value of `{{ since }}` in the first run. Default: no value, so that everything is read.',
      example: '2020-01-01',
    },
  ),
  null_cursors: option.choice(['refuse', 'leave_out'], {
    default: 'refuse',
    about: 'With cursor: whether records without a value in the cursor column fail the run or are skipped.',
  }),
};
