import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Provider from 'oidc-provider';
import type { ClientMetadata, Configuration } from 'oidc-provider';
import { assertionAlgorithms, type OAuthDescription } from '../../src/sdk/oauth.ts';

/** A request to the token URL, and its status; 0 while it's in progress. */
export interface TokenRequest {
  status: number;
}

export interface Vendor {
  readonly url: string;
  /** Every request to the token URL so far. */
  readonly asked: readonly TokenRequest[];
  /** Access tokens that rows were read with, each once. */
  readonly accepted: ReadonlySet<string>;
  readonly description: OAuthDescription;
  /** If set, handles token requests; returns true if it responded. */
  fault: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Delay before responses to token requests. */
  delayMs: number;
  /** Revokes every grant that a user has given. */
  revokeAll(): Promise<void>;
  close(): Promise<void>;
}

export interface VendorOptions {
  /** Seconds. */
  readonly accessTtl?: number;
  readonly rotate?: boolean;
  /** Exact URLs that a browser may return to. */
  readonly redirects?: readonly string[];
  /** Another app, which signs its requests. */
  readonly signer?: ClientMetadata;
}

type VendorConfiguration = Required<Omit<VendorOptions, 'signer'>> & Pick<VendorOptions, 'signer'>;

export const client = { id: 'web', secret: 'w3b-s3cr3t-w3b-s3cr3t' };
export const robot = { id: 'robot', secret: 'r0b0t-s3cr3t-r0b0t' };

/**
 * A vendor: the certified oidc-provider on loopback, a page of rows that requires its tokens, and a way to inject
 * faults. All consent pages are the provider's own development pages.
 */
export async function startVendor(options: VendorOptions = {}): Promise<Vendor> {
  const { accessTtl = 3600, rotate = true, redirects = ['http://127.0.0.1/callback'], signer } = options;
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const grants = new Set<string>();
  const provider = await openProvider(url, configuration({ accessTtl, rotate, redirects, signer }));
  provider.on('grant.success', (context) => {
    const id = context.oidc.entities.Grant?.jti;
    if (id !== undefined) grants.add(id);
  });
  const asked: TokenRequest[] = [];
  const accepted = new Set<string>();
  const handle = provider.callback();
  const vendor: Vendor = {
    url,
    asked,
    accepted,
    fault: undefined,
    delayMs: 0,
    description: {
      grants: ['authorization_code', 'client_credentials'],
      authorize_url: `${url}/auth`,
      token_url: `${url}/token`,
      revoke_url: `${url}/token/revocation`,
      device: { url: `${url}/device/auth` },
      pkce: true,
      scopes: ['openid', 'offline_access'],
      authorize_parameters: { prompt: 'consent' },
      refresh: rotate ? 'rotating' : 'static',
    },
    async revokeAll() {
      for (const id of grants) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
      }
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  server.on('request', (request, response) => {
    if (request.url === '/rows') return void answerRows({ provider, accepted }, request, response);
    if (request.method === 'POST' && request.url === '/token') {
      const entry: TokenRequest = { status: 0 };
      asked.push(entry);
      response.once('finish', () => {
        entry.status = response.statusCode;
      });
      if (vendor.fault?.(request, response)) return;
      return void setTimeout(() => void handle(request, response), vendor.delayMs);
    }
    void handle(request, response);
  });
  return vendor;
}

/** The provider warns about everything that is intended only for development. */
async function openProvider(url: string, settings: Configuration): Promise<Provider> {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    const { default: Server } = await import('oidc-provider');
    return new Server(url, settings);
  } finally {
    console.warn = warn;
  }
}

async function answerRows(
  { provider, accepted }: { provider: Provider; accepted: Set<string> },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
  if (found === undefined) return void response.writeHead(401).end('{}');
  accepted.add(token);
  response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1},{"id":2}]');
}

function configuration({ accessTtl, rotate, redirects, signer }: VendorConfiguration): Configuration {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        redirect_uris: [...redirects],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        client_id: robot.id,
        client_secret: robot.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_basic',
      },
      ...(signer === undefined
        ? []
        : [{ ...signer, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }]),
    ],
    enabledJWA: { clientAuthSigningAlgValues: [...assertionAlgorithms] },
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async () => true },
      devInteractions: { enabled: true },
      resourceIndicators: { enabled: false },
    },
    scopes: ['openid', 'offline_access', 'read'],
    ttl: {
      AccessToken: accessTtl,
      ClientCredentials: accessTtl,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 3600,
      Interaction: 600,
      DeviceCode: 600,
      IdToken: 600,
    },
    rotateRefreshToken: rotate,
    issueRefreshToken: async () => true,
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    pkce: { required: () => true },
    cookies: { keys: ['a key for tests'] },
  };
}
