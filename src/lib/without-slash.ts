/** A URL or path without slashes at its end. */
export const withoutSlash = (address: string): string => address.replace(/\/+$/, '');
