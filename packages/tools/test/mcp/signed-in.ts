/** A server that requires signed-in users: OAuth flows with a user who agrees to everything. */
import {
  auth,
  ClientCredentialsProvider,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/client';
import type { HttpServer } from '../../../reprise/src/mcp.js';

const REDIRECT = 'http://localhost:3000/callback';
const SIGN_INS_MAX = 3;

type Given = Readonly<Record<string, string>>;

/** The server, with its OAuth client. */
export function signedIn(url: string): HttpServer {
  const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Given;
  const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
  if (scenario.startsWith('auth/client-credentials')) return { url, auth: ownRight(given) };
  return { url, fetch: throughConsent(url, new Consenting(given)) };
}

/** A client that acts on its own behalf. */
function ownRight({
  client_id: clientId = '',
  client_secret: clientSecret,
  private_key_pem,
  signing_algorithm,
}: Given) {
  if (clientSecret !== undefined) return new ClientCredentialsProvider({ clientId, clientSecret });
  return new PrivateKeyJwtProvider({
    clientId,
    privateKey: private_key_pem ?? '',
    algorithm: signing_algorithm ?? 'ES256',
  });
}

/** Signs in when a request is refused without a token. */
function throughConsent(serverUrl: string, provider: Consenting): typeof fetch {
  return async (input, init) => {
    const send = async () => {
      const headers = new Headers(init?.headers);
      const tokens = provider.tokens();
      if (tokens !== undefined) headers.set('authorization', `Bearer ${tokens.access_token}`);
      return fetch(input, { ...init, headers });
    };
    let response = await send();
    for (let n = 0; n < SIGN_INS_MAX && (response.status === 401 || response.status === 403); n++) {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const where = {
        serverUrl,
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
        ...(scope === undefined ? {} : { scope }),
        ...(response.status === 403 ? { forceReauthorization: true } : {}),
      };
      if ((await auth(provider, where)) === 'REDIRECT') {
        const [authorizationCode, iss] = provider.granted;
        await auth(provider, { ...where, authorizationCode, ...(iss === undefined ? {} : { iss }) });
      }
      response = await send();
    }
    return response;
  };
}

/** A user who agrees at once. */
class Consenting implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
  readonly clientMetadata = {
    client_name: 'reprise',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  granted: [code: string, iss: string | undefined] = ['', undefined];
  #client: ReturnType<OAuthClientProvider['clientInformation']>;
  #tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  #verifier = '';

  constructor({ client_id, client_secret }: Given) {
    if (client_id !== undefined)
      this.#client = { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
  }

  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: never): void {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: never): void {
    this.#tokens = tokens;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  async redirectToAuthorization(authorization: URL): Promise<void> {
    const { headers } = await fetch(authorization, { redirect: 'manual' });
    const { searchParams } = new URL(headers.get('location') ?? REDIRECT);
    this.granted = [searchParams.get('code') ?? '', searchParams.get('iss') ?? undefined];
  }
}
