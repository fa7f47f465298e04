/**
 * Tokens by which clients outside prove who they are.
 *
 * Invariants
 * B1  A token states a world, a principal and an end, and is signed: what is altered, of another world, or ended, is
 *     nobody's.
 * B2  No token and no key is stored: a token stands with its client, and the secret with the app.
 * B3  A token that was taken back stays refused, also by another process.
 */

import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { type AgentWorld, type Duration, durationMs, type WorldPart } from '@reprise/agent';
import {
  type Address,
  type ArgumentCheck,
  checkOf,
  isRepriseError,
  type Principal,
  parseOwnJson,
  RepriseError,
} from '@reprise/contracts';
import type { AuthRequest } from './door/auth-request.js';
import { isClientPrincipal, requirePrincipal } from './protocol/principals.js';
import { TOKENS, tokenList } from './pure/token-list.js';
import { requireWorld } from './world/serving.js';

/** For how long a token is issued. */
export interface IssueOptions {
  /** How long it is valid. */
  readonly for: Duration;
}

/** Issues tokens, tells the principal of each, and takes them back. */
export interface BearerTokens {
  /** Makes a token for a principal: `human:NAME`, or a cell. */
  issue(principal: Principal, options: IssueOptions): Promise<string>;
  /** The principal of a request with `Authorization: Bearer TOKEN`; undefined without a valid token. */
  auth(request: AuthRequest): Promise<Principal | undefined>;
  /** Takes a token back. The world needs the part {@link revocations}. */
  revoke(token: string): Promise<void>;
  /** Takes back all tokens that a principal has. */
  revokeAll(principal: Principal): Promise<void>;
}

/** What a token states about itself, under the signature. */
interface Claims {
  readonly id: string;
  readonly world: string;
  readonly principal: Principal;
  readonly issued: number;
  readonly ends: number;
}

const PREFIX = 'rps1';
const TOKEN_MAX = 2_048;
const TOKEN = /^rps1\.([A-Za-z0-9_-]{1,1900})\.([A-Za-z0-9_-]{43})$/;
const BEARER = /^Bearer +([^\s]+) *$/i;

/** The shortest secret that signs tokens. */
const SECRET_LENGTH_MIN = 32;

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid argument of bearerTokens');

/** Lets tokens be taken back: keeps their ids in the world until the tokens have ended. */
export const revocations: WorldPart<void> = {
  name: 'server/revocations',
  reducers: [tokenList],
  policy: [
    { send: `${TOKENS}/*`, who: 'human:*', decision: 'deny' },
    { send: `${TOKENS}/*`, who: 'cell:*', decision: 'deny' },
  ],
  handle: () => undefined,
};

/**
 * Tokens of a world, signed with a secret of it.
 *
 * @param options `secret`: the name of a secret, which `openWorld({ secrets })` resolves, of 32 characters or more
 * @throws RepriseError `invalid_argument`
 * @example
 * const tokens = bearerTokens(world, { secret: 'mcp_tokens' })
 * const token = await tokens.issue('human:ann', { for: '30d' })
 * await using serving = await serveHttp(world, { port: 8080, auth: tokens.auth })
 */
export function bearerTokens(world: AgentWorld, options: { readonly secret: string }): BearerTokens {
  requireWorld(world);
  const { secret } = options ?? {};
  require(typeof secret === 'string' && secret !== '', 'secret', 'the name of a secret of the world', typeof secret);
  const tokens = new Tokens(world, secret);
  return {
    issue: (principal, issued) => tokens.issue(principal, issued),
    auth: (request) => tokens.auth(request),
    revoke: (token) => tokens.revoke(token),
    revokeAll: (principal) => tokens.revokeAll(principal),
  };
}

class Tokens {
  readonly #keepsRevoked: boolean;

  constructor(
    private readonly world: AgentWorld,
    private readonly secret: string,
  ) {
    this.#keepsRevoked = hasPart(world);
  }

  async issue(principal: Principal, options: IssueOptions): Promise<string> {
    requirePrincipal(principal, 'principal');
    const lasts = durationMs(options?.for, 'for');
    const { kernel } = this.world;
    const issued = Math.max(kernel.now, (await this.#refusedUntil(principal)) + 1);
    const id = randomBytes(12).toString('base64url');
    const claims: Claims = { id, world: kernel.id, principal, issued, ends: issued + lasts };
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const token = `${PREFIX}.${body}.${(await this.#sign(body)).toString('base64url')}`;
    require(token.length <= TOKEN_MAX, 'principal', 'a shorter principal', principal.length);
    return token;
  }

  async auth(request: AuthRequest): Promise<Principal | undefined> {
    const [, token = ''] = BEARER.exec(request.header('authorization') ?? '') ?? [];
    const claims = await this.#read(token);
    return claims === undefined || (await this.#isRevoked(claims)) ? undefined : claims.principal;
  }

  async revoke(token: string): Promise<void> {
    const claims = await this.#read(token);
    if (claims === undefined) return; // it is refused already
    const { id, ends, principal } = claims;
    await this.#change(principal, { name: 'server/RevokeToken@1', value: { id, ends } });
  }

  async revokeAll(principal: Principal): Promise<void> {
    requirePrincipal(principal, 'principal');
    await this.#change(principal, { name: 'server/RevokeTokens@1', value: {} });
  }

  /** What a token states; undefined when it is altered, of another world, or ended. */
  async #read(token: string): Promise<Claims | undefined> {
    const [, body = '', given = ''] = TOKEN.exec(String(token).slice(0, TOKEN_MAX)) ?? [];
    if (body === '') return undefined;
    if (!timingSafeEqual(await this.#sign(body), Buffer.from(given, 'base64url'))) return undefined;
    const claims = parseOwnJson(Buffer.from(body, 'base64url').toString('utf8')) as Claims;
    const { kernel } = this.world;
    const isMine = claims.world === kernel.id && isClientPrincipal(claims.principal);
    return isMine && kernel.now < claims.ends ? claims : undefined;
  }

  async #sign(body: string): Promise<Buffer> {
    const secret = await this.world.kernel.secret(this.secret);
    if (typeof secret !== 'string' || secret.length < SECRET_LENGTH_MIN)
      throw new RepriseError('invalid_argument', 'the secret that signs tokens is too short', {
        where: `secrets(${JSON.stringify(this.secret)})`,
        expected: `${SECRET_LENGTH_MIN} characters or more, from a generator of random bytes`,
      });
    // Another key for each use: the same secret signs nothing else with it.
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'reprise/server tokens 1', 32));
    return createHmac('sha256', key).update(`${PREFIX}.${body}`).digest();
  }

  async #refusedUntil(principal: Principal): Promise<number> {
    if (!this.#keepsRevoked) return 0;
    const state = (await this.world.kernel.state(cellOf(principal))) as { readonly refused_until: number } | undefined;
    return state?.refused_until ?? 0;
  }

  async #isRevoked({ id, principal, issued }: Claims): Promise<boolean> {
    if (!this.#keepsRevoked) return false;
    if (issued <= (await this.#refusedUntil(principal))) return true;
    const [found] = await this.#entries(principal, id);
    return found?.[0] === id;
  }

  async #entries(principal: Principal, id: string): Promise<readonly (readonly [string, unknown])[]> {
    try {
      return await this.world.kernel.table(cellOf(principal), 'revoked', { from: id, limit: 1 });
    } catch (error) {
      if (isRepriseError(error, 'cell_absent')) return [];
      throw error;
    }
  }

  async #change(principal: Principal, event: { readonly name: string; readonly value: object }): Promise<void> {
    if (!this.#keepsRevoked)
      throw new RepriseError('invalid_argument', 'this world keeps no list of revoked tokens', {
        where: 'parts',
        hint: 'Open the world with the part `revocations` of reprise/server. Without it, another secret ends all tokens.',
      });
    await this.world.kernel.request(cellOf(principal), event);
  }
}

function hasPart(world: AgentWorld): boolean {
  try {
    world.part(revocations);
    return true;
  } catch (error) {
    if (isRepriseError(error, 'invalid_argument')) return false;
    throw error;
  }
}

/** The key is a digest: a principal may be longer than a key. */
function cellOf(principal: Principal): Address {
  return [TOKENS, createHash('sha256').update(principal).digest('hex')];
}
