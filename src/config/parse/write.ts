import type { WriteRule } from '../../kept-rows/write-rule.ts';
import { readWritten, type Values } from '../options/field.ts';
import { writeOptions } from '../options/write.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';

/**
 * How a job's rows change the instance's data; undefined if they replace it. Expects values that match the schema, and
 * reports incompatible options.
 */
export function loadWrite(job: Part, faults: Faults): WriteRule | undefined {
  const at = partAt(job, 'write');
  const whole = typeof at.value === 'string' ? { ...at, value: { disposition: at.value } } : at;
  const written = readWritten(writeOptions, whole, faults);
  refuseMismatch(written, { at, faults });
  const { disposition = 'replace', key = [] } = written;
  return disposition === 'replace' ? undefined : { ...written, disposition, key };
}

function refuseMismatch(
  written: Partial<Values<typeof writeOptions>>,
  { at, faults }: { at: Part; faults: Faults },
): void {
  const { disposition = 'replace', key, deleted, retain } = written;
  const refuse = (option: string, message: string, next: string) =>
    faults.add({ code: 'CONFIG_WRITE', message, path: partAt(at, option).path, on: 'key', next });
  if (disposition === 'merge' && key === undefined) {
    faults.add({
      code: 'CONFIG_WRITE',
      message: 'Missing "key": merge requires a key',
      path: at.path,
      on: 'key',
      next: 'add the columns that identify a row: write: {disposition: merge, key: [id]}',
    });
  }
  for (const option of ['key', 'deleted', 'deletes'] as const) {
    if (written[option] === undefined || disposition === 'merge') continue;
    refuse(option, `"${option}" has no effect with ${disposition}`, `delete "${option}", or write disposition: merge`);
  }
  if (deleted !== undefined && key?.includes(deleted))
    refuse('deleted', 'The "deleted" column cannot be part of the key', 'use another column');
  if (retain === undefined) return;
  if (disposition === 'replace') refuse('retain', '"retain" has no effect with replace', 'delete "retain"');
  else if (retain.within !== undefined && retain.column === undefined)
    refuse('retain', 'Missing "column": "within" requires a column', 'add a date or time column');
  else if (retain.rows !== undefined && retain.column === undefined && disposition === 'merge')
    refuse('retain', 'Missing "column": "rows" requires a column', 'add a date or time column');
  else if (retain.rows === undefined && retain.within === undefined)
    refuse(
      'retain',
      'Missing limit: "retain" has a column but neither within nor rows',
      'add within: 90d, or rows: 100000',
    );
}
