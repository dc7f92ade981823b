/** Both spellings of the API version in a path. URLs that the service generates use the first one. */
export const prefixes = ['/api/1.0', '/api/1'] as const;
