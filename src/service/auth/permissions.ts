/** Every permission that a role can hold. Only the first 21 are required by endpoints. */
export const permissions = [
  'account.api',
  'client.access',
  'dashboard.library',
  'dashboard.share',
  'dashboard.tab',
  'dashboard.annotation.view',
  'dashboard.annotation.edit',
  'datasource.create',
  'datasource.edit',
  'datasource.delete',
  'datasource.share',
  'klip.build',
  'klip.edit',
  'klip.delete',
  'klip.share',
  'klip.import',
  'tab.build',
  'tab.edit',
  'tab.delete',
  'tab.publish',
  'user.manage',
  'account.api_key',
  'account.profile',
  'account.settings',
  'account.tokens',
  'account.usage',
  'admin.annotation',
  'admin.client',
  'admin.datasource',
  'admin.klip',
  'admin.tab',
  'client.build',
  'client.delete',
  'client.edit',
  'client.login',
  'client.share',
  'dashboard.fullscreen',
  'dashboard.klip',
  'dashboard.theme',
  'datasource.download',
  'datasource.import',
  'datasource.library',
  'group.view',
  'klip.email',
  'klip.embed',
  'klip.download',
  'klip.library',
  'tab.share',
  'tab.email',
  'tab.download',
  'tab.import',
  'tab.push',
  'user.view',
  'user.viewonly.manage',
] as const;

export type Permission = (typeof permissions)[number];

export const builtInRoles = ['Admin', 'Editor', 'View-Only'] as const;
export type BuiltInRole = (typeof builtInRoles)[number];

const viewOnly: readonly Permission[] = ['dashboard.library', 'dashboard.tab', 'dashboard.annotation.view'];

/** The database stores no permissions for built-in roles, so that adding a permission needs no migration. */
export function permissionsOf(role: BuiltInRole): readonly Permission[] {
  if (role === 'Admin') return permissions;
  if (role === 'View-Only') return viewOnly;
  return permissions.filter((name) => name !== 'user.manage' && !/^(account|client)\./.test(name));
}
