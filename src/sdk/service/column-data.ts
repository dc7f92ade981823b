import type { ColumnType } from '../column.ts';
import type { DateFormat } from './moment.ts';
import type { ValuePath } from './path.ts';
import type { RequestData } from './request-data.ts';
import type { Scope, Template } from './template.ts';

/** Columns by name. `discovered`: the columns are the fields of all records, so all records are read first. */
export type Columns =
  | Readonly<Record<string, ColumnType | ColumnData>>
  | ((scope: Scope) => Readonly<Record<string, ColumnType | ColumnData>>)
  | 'discovered'
  | Discovery;

/** One column of a stream: its type and the location of its value. */
export interface ColumnData {
  readonly type: ColumnType;
  /** The value's path in the record; default: the column's name. */
  readonly at?: ValuePath;
  /** The template variable that contains the value, such as `partition.survey.id`. Used instead of `at`. */
  readonly scope?: string;
  /** Date format of the service. */
  readonly date?: DateFormat;
  /** The service's IANA time zone, for days and for times without a zone. Default: the run's time zone. */
  readonly zone?: string;
}

/** A call that returns the columns. Templates in the stream's request can use the column names as `fields`. */
export interface Discovery {
  readonly request: RequestData;
  /** The path of the list of fields in the response, and the paths of the name and the type within each field. */
  readonly records: ValuePath;
  readonly name: ValuePath;
  readonly type: ValuePath;
  /** Sluice types by the service's types. The default is text. */
  readonly types: Readonly<Record<string, ColumnType | ColumnData>>;
  /** Only fields that match this. */
  readonly only?: Readonly<Record<string, unknown>>;
  /**
   * The option with which the user selects fields, by name and in order. If the option isn't set, all fields are
   * selected.
   */
  readonly wanted?: Template;
  /** The path of the object that contains the fields' values in a record; default: the record itself. */
  readonly within?: string;
  /** Additional leading columns, which every record has. They aren't in `fields`. */
  readonly always?: Readonly<Record<string, ColumnType | ColumnData>>;
}
