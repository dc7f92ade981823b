const generated = /^[0-9a-f]{32}$/i;

/**
 * Returns the ID as it's stored. Generated IDs compare without regard to case, because some clients write them in
 * capitals. IDs from fixtures are used as they are.
 */
export function canonicalId(id: string): string {
  return generated.test(id) ? id.toLowerCase() : id;
}
