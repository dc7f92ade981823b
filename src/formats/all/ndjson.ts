import { loneSurrogate } from '../../lib/replaced-characters.ts';
import { constant } from '../constant.ts';
import { defineFormat } from '../format.ts';
import { memberFrames } from '../json-frames.ts';
import { RowEncoder } from '../row-encoder.ts';

/** One JSON object per line: like json without the surrounding array, with members in column order. */
export default defineFormat({
  id: 'ndjson',
  title: 'NDJSON',
  summary: 'One JSON object per line, for files; numbers keep all their digits.',
  mediaType: 'application/x-ndjson; charset=utf-8',
  fileEnding: '.ndjson',
  options: {},
  isForDatasources: false,
  readBack: () => ({ format: 'jsonl' }),
  encoder: (columns) =>
    new RowEncoder({
      columns,
      frames: memberFrames(columns, 'number'),
      notInNames: loneSurrogate,
      begin: constant(''),
      firstLead: constant('{'),
      lead: constant('{'),
      tail: constant('}\n'),
      end: constant(''),
      endEmpty: constant(''),
    }),
});
