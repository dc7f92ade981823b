/**
 * A list has the values of a repeated part; if an element with parts is repeated, the lists have one item per element,
 * null if it lacks the part.
 */
export type XmlValue = string | null | readonly XmlValue[];

/** The values of a record by path; null if `xsi:nil` is set. */
export type XmlRecord = Map<string, XmlValue>;
