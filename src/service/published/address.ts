/** Where a published link leads: host, path and a slug of its name, without a scheme. */
export function addressOf(host: string, { id, name }: { id: string; name: string }): string {
  return `${host}/published/${id}/${encodeURIComponent(slugOf(name))}`;
}

/** A slug: lowercase letters and digits of any script, without accents, joined by hyphens; `dashboard` if empty. */
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

/** Who can look: derived, never stored. A password on a searchable link is asked for all the same. */
export function visibilityOf({ isPublic, password }: { isPublic: 0 | 1; password: string | null }): Visibility {
  if (isPublic === 1) return 'public_searchable';
  return password === null ? 'anyone_with_link' : 'anyone_with_link_and_password';
}
