import type { PayloadFile } from '../../formats/payload-table.ts';
import type { OutboxRow } from '../../state/tables.ts';

/** A payload's file, with the format and the options that it was written with. */
export function payloadFileOf({
  path,
  format,
  format_options,
}: Pick<OutboxRow, 'path' | 'format' | 'format_options'>): PayloadFile {
  return { path, format, options: JSON.parse(format_options) as PayloadFile['options'] };
}
