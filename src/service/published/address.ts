/** A published link's URL without a scheme: host, path and a slug of its name. */
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

/** Visibility, derived from the settings. A password on a searchable link is still required. */
export function visibilityOf({ isPublic, password }: { isPublic: 0 | 1; password: string | null }): Visibility {
  if (isPublic === 1) return 'public_searchable';
  return password === null ? 'anyone_with_link' : 'anyone_with_link_and_password';
}
