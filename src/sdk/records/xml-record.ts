/**
 * A list contains the values of a repeated part. If an element with parts is repeated, each part's list has one item
 * per element. The item is null if the element lacks the part.
 */
export type XmlValue = string | null | readonly XmlValue[];

/** The values of a record by path; null if `xsi:nil` is set. */
export type XmlRecord = Map<string, XmlValue>;
