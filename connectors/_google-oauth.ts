import type { OAuthDescription } from '#sdk';

const token = 'https://oauth2.googleapis.com/token';

/**
 * OAuth for all Google services, either with a user's consent or with a service account's key. `scope` is the scope
 * without the prefix that ends in `/auth/`. https://developers.google.com/identity/protocols/oauth2
 */
export function googleOAuth(scope: string): OAuthDescription {
  return {
    grants: ['authorization_code', 'jwt_bearer'],
    authorize_url: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_url: token,
    revoke_url: 'https://oauth2.googleapis.com/revoke',
    pkce: true,
    scopes: [`https://www.googleapis.com/auth/${scope}`],
    // Google returns a refresh token only if the request asks for one and the user consents again.
    authorize_parameters: { access_type: 'offline', prompt: 'consent' },
    refresh: 'static',
    assertion: { algorithm: 'RS256', audience: token },
  };
}
