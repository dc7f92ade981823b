/** A list holds the values of a part that is repeated; one of an element with parts inside has a place for each, null if it lacks the part. */
export type XmlValue = string | null | readonly XmlValue[];

/** The values of one record by path; null where `xsi:nil` says so. */
export type XmlRecord = Map<string, XmlValue>;
