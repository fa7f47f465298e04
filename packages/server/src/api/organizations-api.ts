/** What a client reads of organizations: lists, what each is and does, its parts, and the content that they link. */
import { contentType, SNIFF_BYTES } from '@reprise/agent';
import { address, type Principal, Ref, type ValueMap } from '@reprise/contracts';
import { SERVE_SESSIONS_LOOKED_AT, SERVE_SESSIONS_PAGE } from '../protocol/limits.js';
import type { Cursors } from '../world/cursors.js';
import type { Organizations, Organized } from '../world/organizations.js';
import type { Access } from './access.js';
import { notFound } from './problem.js';

/** A page as clients read it; `next` is the path of the following one. */
interface ShownPage {
  readonly items: readonly object[];
  readonly next?: string;
}

const LINK = /^(?:sha256:)?([0-9a-f]{64})$/;

/**
 * The organizations that one principal has.
 *
 * A link alone is no authority: the state of an organization has it, or an entry of one of its tables.
 */
export class OrganizationsApi {
  constructor(
    private readonly principal: Principal,
    private readonly organizations: Organizations,
    private readonly access: Access,
    private readonly cursors: Cursors,
  ) {}

  /** A page of those of one kind, by their names. @param next the cursor of a page before */
  async list(kind: string, next: string | null): Promise<ShownPage> {
    const found = this.organizations.kinds.get(kind);
    if (found === undefined) throw notFound('This kind of organization');
    const items: object[] = [];
    let seen = 0;
    let last: string | undefined;
    for await (const name of this.organizations.names(found, this.#placeOf(next))) {
      const about = await this.#about({ kind: found, name });
      if (about !== undefined && items.length === SERVE_SESSIONS_PAGE)
        return this.#page(`/v1/organizations/${kind}`, items, last);
      if (about !== undefined) items.push({ kind, name, ...about });
      last = name;
      if (++seen === SERVE_SESSIONS_LOOKED_AT) return this.#page(`/v1/organizations/${kind}`, items, last);
    }
    return { items };
  }

  /** An organization that the principal has. @throws Problem for any other, and for a name that no cell has */
  async find(kind: string, name: string): Promise<Organized> {
    const found = this.organizations.kinds.get(kind);
    const isName = found !== undefined && address.safeParse([found.reducer, name]).success;
    if (!isName || !(await this.access.mayFollow({ kind: found, name }))) throw notFound('The organization');
    return { kind: found, name };
  }

  async read(kind: string, name: string): Promise<object> {
    const about = await this.#about(await this.find(kind, name));
    if (about === undefined) throw notFound('The organization');
    return { kind, name, ...about };
  }

  /** A page of its nodes, tasks or members. */
  async parts(kind: string, name: string, next: string | null): Promise<ShownPage> {
    const found = await this.find(kind, name);
    const { items, next: last } = await found.kind.parts(name, this.#placeOf(next));
    return this.#page(`/v1/organizations/${kind}/${encodeURIComponent(name)}/parts`, items, last);
  }

  /** Content that an organization links, and its media type. */
  async content(
    kind: string,
    name: string,
    digest: string,
  ): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }> {
    const found = await this.find(kind, name);
    const [, hex] = LINK.exec(digest) ?? [];
    const link = hex === undefined ? undefined : Ref.fromHex(hex);
    const isLinked = link !== undefined && (await this.organizations.links(found, link));
    const bytes = isLinked ? await this.organizations.contentAt(link) : undefined;
    if (bytes === undefined) throw notFound('The content');
    return { ...contentType(bytes.subarray(0, SNIFF_BYTES)), bytes };
  }

  async #about(of: Organized): Promise<ValueMap | undefined> {
    if (!(await this.access.mayFollow(of))) return undefined;
    return of.kind.about(of.name);
  }

  #placeOf(next: string | null): string | undefined {
    if (next === null) return undefined;
    const place = this.cursors.open(next, this.principal);
    if (place === undefined) throw notFound('The page');
    return place;
  }

  #page(path: string, items: readonly object[], place: string | undefined): ShownPage {
    if (place === undefined) return { items };
    return { items, next: `${path}?after=${encodeURIComponent(this.cursors.seal(place, this.principal))}` };
  }
}
