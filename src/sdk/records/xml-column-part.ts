/** In place of the cell of a part without values so far. */
export const unresolved = -2;

/** An element or attribute of the records, by its path. */
export interface XmlColumnPart {
  /** Names from the record down, joined by dots; '' is the record, `@name` an attribute. Undefined before there was a value. */
  path: string | undefined;
  /** Another part has the same path, because they differ only in the prefix: in one record their values are a list. */
  isTaken: boolean;
  /** Undefined for the record. */
  readonly parent: XmlColumnPart | undefined;
  readonly depth: number;
  /** Bytes of its name. */
  readonly name: Buffer;
  /** The same with the `>` of an end tag. */
  readonly close: Buffer;
  /** In order of first appearance, which the next record most likely repeats. */
  readonly elements: XmlColumnPart[];
  readonly attributes: XmlColumnPart[];
  /** By name, attributes with `@` before it. */
  readonly byName: Map<string, XmlColumnPart>;
  /** Place among the elements, or the attributes, of its parent. */
  readonly index: number;
  readonly isAttribute: boolean;
  /** What its text is: a value, that of a record, whether the element is null, or a namespace. */
  readonly means: 'value' | 'text' | 'nil' | 'namespace';
  /** Which cell of the row; -1 for none. {@link unresolved} before there was a value. */
  slot: number;
  /** The record that had a value here last. */
  record: number;
  /** What came behind its text last, and what did before. */
  way: XmlWay;
  otherWay: XmlWay;
}

/** The bytes that led from the text of one column to that of another: offsets in the block at hand. */
export interface XmlWay {
  readonly to: XmlColumnPart | undefined;
  readonly start: number;
  /** Longer than any block if no way is known. */
  readonly length: number;
  /** It leads on in the same row and line, and opens no element but the one that it leads to. */
  readonly isPlain: boolean;
  readonly lines: number;
  /** Up to the end of the record, if it ends in between, else 0; then `lines` are those behind. */
  readonly rowLength: number;
  readonly rowLines: number;
  /** Elements with elements inside that are opened in between. */
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
