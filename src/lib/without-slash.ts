/** A URL or path without trailing slashes. */
export const withoutSlash = (address: string): string => address.replace(/\/+$/, '');
