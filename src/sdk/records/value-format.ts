import type { ColumnType } from '../column.ts';

/** The format of a column's values in the data, for example `dd.MM.yyyy`. */
export interface ValueFormat {
  /** As the config has it. */
  readonly written: string;
  /** The canonical text of the column's type; undefined if the string isn't in this format. */
  read(text: string): string | undefined;
}

/** A column's type and format, as declared in a config. */
export interface FormattedType {
  readonly type: ColumnType;
  readonly format?: string | undefined;
  readonly first_year?: number | undefined;
}

/** The formats that apply to all columns of a type, by the type's family. */
export interface FamilyFormats {
  readonly number?: string | undefined;
  readonly date?: string | undefined;
  readonly time?: string | undefined;
  readonly timestamp?: string | undefined;
  readonly timestamptz?: string | undefined;
  readonly first_year?: number | undefined;
}

type FormatFamily = Exclude<keyof FamilyFormats, 'first_year'>;

const families: Partial<Record<ColumnType, FormatFamily>> = {
  integer: 'number',
  decimal: 'number',
  float: 'number',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
};

/** The family of a type whose values can have a format. */
export function familyOf(type: ColumnType): FormatFamily | undefined {
  return families[type];
}
