/** Both spellings of the version; the first one is used in URLs. */
export const prefixes = ['/api/1.0', '/api/1'] as const;
