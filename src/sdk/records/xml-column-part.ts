/** The cell index of a part that has no values yet. */
export const unresolved = -2;

/** An element or attribute of the records, identified by its path. */
export interface XmlColumnPart {
  /**
   * Names from the record down, joined by dots; '' is the record, `@name` an attribute. Undefined before the first
   * value.
   */
  path: string | undefined;
  /** Another part has the same path, because only their prefixes differ: within a record, their values are a list. */
  isTaken: boolean;
  /** Undefined for the record. */
  readonly parent: XmlColumnPart | undefined;
  readonly depth: number;
  /** Its name as bytes. */
  readonly name: Buffer;
  /** The name with the `>` of an end tag. */
  readonly close: Buffer;
  /** In order of first appearance; the next record most likely has the same order. */
  readonly elements: XmlColumnPart[];
  readonly attributes: XmlColumnPart[];
  /** By name; attributes have the prefix `@`. */
  readonly byName: Map<string, XmlColumnPart>;
  /** Index among its parent's elements or attributes. */
  readonly index: number;
  readonly isAttribute: boolean;
  /** The meaning of its text: a value, the record's own text, whether the element is null, or a namespace. */
  readonly means: 'value' | 'text' | 'nil' | 'namespace';
  /** Its cell in the row; -1 if it has none. {@link unresolved} before the first value. */
  slot: number;
  /** The last record that had a value here. */
  record: number;
  /** The bytes that followed its text the last time and the time before that. */
  way: XmlWay;
  otherWay: XmlWay;
}

/** The bytes that led from the text of one column to the text of another: offsets in the current block. */
export interface XmlWay {
  readonly to: XmlColumnPart | undefined;
  readonly start: number;
  /** Longer than any block if the way isn't known. Includes the start tag of `to`. */
  readonly length: number;
  /** It stays in the same row and line, and opens only the element that it leads to. */
  readonly isPlain: boolean;
  readonly lines: number;
  /**
   * The length up to the record's end if it ends in between, otherwise 0; then `lines` counts the lines after that end.
   */
  readonly rowLength: number;
  readonly rowLines: number;
  /** The elements with child elements that are opened on the way. */
  readonly entered: readonly XmlColumnPart[];
}

export const noWay: XmlWay = {
  to: undefined,
  start: 0,
  length: 2 ** 30 - 1,
  isPlain: false,
  lines: 0,
  rowLength: 0,
  rowLines: 0,
  entered: [],
};
