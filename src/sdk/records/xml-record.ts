/**
 * A list contains the values of a repeated part. If an element with parts is repeated, the list of each part has one
 * item per element: null if the element lacks the part.
 */
export type XmlValue = string | null | readonly XmlValue[];

/** The values of a record by path; null if `xsi:nil` is set. */
export type XmlRecord = Map<string, XmlValue>;
