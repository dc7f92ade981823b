/** The cell index of a part that has no values yet. */
export const unresolved = -2;

/** An element or attribute of the records, identified by its path. */
export interface XmlColumnPart {
  /**
   * Names from the record down, joined by dots. The record itself is '', and an attribute is `@name`. Undefined before
   * the first value.
   */
  path: string | undefined;
  /**
   * True if another part has the same path because the two differ only in prefixes. Within a record, the values of such
   * parts are a list.
   */
  isTaken: boolean;
  /** Undefined for the record. */
  readonly parent: XmlColumnPart | undefined;
  readonly depth: number;
  /** Its name as bytes. */
  readonly name: Buffer;
  /** The name and the `>` that follows it in an end tag. */
  readonly close: Buffer;
  /** The child elements in order of first appearance, which the next record most likely repeats. */
  readonly elements: XmlColumnPart[];
  readonly attributes: XmlColumnPart[];
  /** Child elements and attributes by name; attribute names have the prefix `@`. */
  readonly byName: Map<string, XmlColumnPart>;
  /** The part's index among its parent's elements or attributes. */
  readonly index: number;
  readonly isAttribute: boolean;
  /** The meaning of the part's text: a value, the record's own text, whether the element is null, or a namespace. */
  readonly means: 'value' | 'text' | 'nil' | 'namespace';
  /** The part's cell index in the row; -1 if the part has no cell; {@link unresolved} before the first value. */
  slot: number;
  /** Number of the last record in which this part had a value. */
  record: number;
  /** The last two different byte sequences between this column's text and the next column's text. */
  way: XmlWay;
  otherWay: XmlWay;
}

/** A way: the bytes between the text of one column and the text of the next, as offsets in the current block. */
export interface XmlWay {
  readonly to: XmlColumnPart | undefined;
  readonly start: number;
  /** The number of bytes, including the start tag of `to`. If the way isn't known, larger than any block. */
  readonly length: number;
  /** True if the bytes are within one row and line, and open no element except `to`. */
  readonly isPlain: boolean;
  readonly lines: number;
  /**
   * The length up to the end of the record if the record ends within these bytes; otherwise, 0. If the record ends
   * there, `lines` counts only the lines after its end.
   */
  readonly rowLength: number;
  readonly rowLines: number;
  /** The elements with child elements whose start tags are in these bytes. */
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
