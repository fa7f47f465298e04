/**
 * What one principal has: sessions and organizations of its own, as far as its rights go.
 *
 * Invariants
 * A3  What a principal has is asked before its rights are: neither adds to the other.
 * A4  A session of an organization may be read and decided about by those who have the organization; to send it something, a
 *     principal must have the session itself.
 * A5  The key of a session of an organization begins with the organization's name, which may be that of a person: it makes the
 *     session nobody's own.
 */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, isRepriseError, type Principal } from '@reprise/contracts';
import type { WorldView } from '@reprise/kernel';
import type { Organizations, Organized } from '../world/organizations.js';
import { unlessDenied } from '../world/refusals.js';
import { ownKey, type SessionsOptions } from './options.js';

/** The sessions and organizations that one principal has. */
export class Access {
  constructor(
    private readonly view: WorldView,
    private readonly organizations: Organizations,
    private readonly options: SessionsOptions,
  ) {}

  get #principal(): Principal {
    return this.view.principal;
  }

  /** Whether a session is the principal's own: by its key, or because the app says so (A5). */
  async has(session: string): Promise<boolean> {
    const { mayUse } = this.options;
    const asked = { principal: this.#principal, session };
    if (mayUse !== undefined) return (await mayUse(asked)) === true;
    return ownKey(asked) && (await this.organizations.of(session)) === undefined;
  }

  /** Whether a session is there for the principal: its own, or one of an organization that it has (A4). */
  async sees(session: string): Promise<boolean> {
    if (await this.has(session)) return true;
    const of = await this.organizations.of(session);
    return of !== undefined && this.holds(of);
  }

  /** Whether the principal may read a session now. */
  async mayRead(session: string): Promise<boolean> {
    return (await this.sees(session)) && this.#reads([SESSION_REDUCER, session]);
  }

  /** Whether the principal may read an organization now. */
  async mayFollow(of: Organized): Promise<boolean> {
    return (await this.#reachesOrganization(of)) && this.holds(of);
  }

  /** Whether what waits in a cell is there for the principal to decide; rights say whether it may. */
  async seesItemOf(cell: Address): Promise<boolean> {
    if (cell[0] === SESSION_REDUCER) return this.sees(cell[1]);
    const of = this.organizations.at(cell);
    return of === undefined || this.holds(of);
  }

  /** Whether an organization is the principal's: it made it, or the app says so. */
  async holds({ kind, name }: Organized): Promise<boolean> {
    const { mayFollow } = this.options;
    if (mayFollow !== undefined)
      return (await mayFollow({ principal: this.#principal, kind: kind.kind, name })) === true;
    if ((await kind.holders?.(name))?.includes(this.#principal) === true) return true;
    return this.#isBehind([kind.reducer, name]);
  }

  /** Whether what made a cell is the principal's: its own request, a session or an organization that it has. */
  async #isBehind(cell: Address): Promise<boolean> {
    const maker = await this.organizations.makerOf(cell);
    if (maker === null) return (await this.organizations.principalBehind(cell)) === this.#principal;
    if (maker[0] === SESSION_REDUCER) return this.sees(maker[1]);
    const above = this.organizations.at(maker);
    return above === undefined ? this.#isBehind(maker) : this.holds(above);
  }

  async #reachesOrganization({ kind, name }: Organized): Promise<boolean> {
    try {
      return (await this.view.state([kind.reducer, name])) !== undefined;
    } catch (error) {
      if (isRepriseError(error, 'policy_denied')) return false;
      if (!isRepriseError(error, 'cap_denied')) throw error;
      return (await kind.holders?.(name))?.includes(this.#principal) === true;
    }
  }

  async #reads(cell: Address): Promise<boolean> {
    return (await unlessDenied(async () => (await this.view.state(cell)) ?? undefined)) !== undefined;
  }
}
