import type { Column, ColumnType } from '../../sdk/column.ts';
import { type OptionValues, option } from '../../sdk/option.ts';
import { plain } from '../cell-writer.ts';
import { constant } from '../constant.ts';
import { defineFormat } from '../format.ts';
import { writtenNames } from '../names.ts';
import { type Framing, RowEncoder } from '../row-encoder.ts';
import { replacedInXml, xmlCells } from '../xml-cells.ts';
import { elementName, notInXml } from '../xml-names.ts';

const namePattern = '^(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_.-]{0,199}$';

const options = {
  root: option.text({ about: 'The name of the root element.', default: 'rows', pattern: namePattern }),
  row: option.text({ about: 'The name of the element for each row.', default: 'row', pattern: namePattern }),
};

/** Column types whose text may contain a character that XML must escape. */
const escaped: ReadonlySet<ColumnType> = new Set<ColumnType>(['text', 'json']);

/**
 * One element per row, with one element per column. A null value has no element, and an empty string has an empty
 * element.
 */
export default defineFormat({
  id: 'xml',
  title: 'XML',
  summary: 'One element per row, with one child element per column (XML 1.0); null values are omitted.',
  mediaType: 'application/xml; charset=utf-8',
  fileEnding: '.xml',
  options,
  isForDatasources: true,
  // A path, because both elements may have the same name.
  readBack: ({ root, row }) => ({ format: 'xml', records: `${root}.${row}` }),
  encoder: (columns, given) => new RowEncoder(framing(columns, given)),
});

function framing(columns: readonly Column[], { root, row }: OptionValues<typeof options>): Framing {
  const names = writtenNames(columns, 'XML', elementName);
  const open = constant(`<${row}>`);
  const end = constant(`</${root}>\n`);
  return {
    columns,
    frames: columns.map(({ type }, c) => ({
      before: constant(`<${names[c]}>`),
      after: constant(`</${names[c]}>`),
      absent: constant(''),
      writer: escaped.has(type) ? xmlCells : plain,
      valueWriter: xmlCells,
    })),
    notInNames: notInXml,
    replaced: replacedInXml,
    begin: constant(`<?xml version="1.0" encoding="UTF-8"?>\n<${root}>\n`),
    firstLead: open,
    lead: open,
    tail: constant(`</${row}>\n`),
    end,
    endEmpty: end,
  };
}
