import { loneSurrogate } from '../../lib/replaced-characters.ts';
import { option } from '../../sdk/option.ts';
import { constant } from '../constant.ts';
import { defineFormat } from '../format.ts';
import { memberFrames } from '../json-frames.ts';
import { RowEncoder } from '../row-encoder.ts';

const options = {
  exact_numbers: option.choice(['number', 'string'], {
    about:
      'Whether numbers that may exceed the precision of a 64-bit float (integers beyond 2^53-1 and all decimals) are written as JSON numbers with all digits, or as strings.',
    default: 'number',
  }),
};

/** An array of objects, one object per line. Members are in column order, and a null value is written as `null`. */
export default defineFormat({
  id: 'json',
  title: 'JSON',
  summary: 'A JSON array (RFC 8259) with one object per line; numbers keep all their digits.',
  mediaType: 'application/json; charset=utf-8',
  fileEnding: '.json',
  options,
  isForDatasources: true,
  readBack: () => ({ format: 'json' }),
  encoder: (columns, given) =>
    new RowEncoder({
      columns,
      frames: memberFrames(columns, given.exact_numbers),
      notInNames: loneSurrogate,
      begin: constant(''),
      firstLead: constant('[\n{'),
      lead: constant(',\n{'),
      tail: constant('}'),
      end: constant('\n]\n'),
      endEmpty: constant('[]\n'),
    }),
});
