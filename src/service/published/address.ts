/**
 * Builds a published link's URL without the scheme. The URL consists of the host, the path and a slug of the link's
 * name.
 */
export function addressOf(host: string, { id, name }: { id: string; name: string }): string {
  return `${host}/published/${id}/${encodeURIComponent(slugOf(name))}`;
}

/**
 * Builds a slug from a name: lowercase letters and digits of any script, without accents, with hyphens between words.
 * Returns `dashboard` if nothing is left.
 */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return words?.join('-') ?? 'dashboard';
}

export const visibilities = ['public_searchable', 'anyone_with_link_and_password', 'anyone_with_link'] as const;
type Visibility = (typeof visibilities)[number];

/**
 * Derives a published link's visibility from its settings. If a searchable link has a password, the password is still
 * required.
 */
export function visibilityOf({ isPublic, password }: { isPublic: 0 | 1; password: string | null }): Visibility {
  if (isPublic === 1) return 'public_searchable';
  return password === null ? 'anyone_with_link' : 'anyone_with_link_and_password';
}
