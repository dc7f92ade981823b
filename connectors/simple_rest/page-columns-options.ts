import { option } from '#sdk';
import { text } from './schemas.ts';

/** The option `page_columns` of a query. */
export const pageColumnsOptions = {
  page_columns: option.map<string>(text, {
    about:
      'Values outside the records to add as the first columns, by column name: places in the response (json or xml), or `header(NAME)`. Each record has the value of its page.',
    example: { as_of: 'meta.generated_at' },
  }),
};
