/** Both spellings of the version; the first is the one that is shown. */
export const prefixes = ['/api/1.0', '/api/1'] as const;
