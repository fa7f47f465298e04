/**
 * What changes in a world, for clients that follow it.
 *
 * Invariants
 * N1  News follows from durable frames only.
 * N2  A client is told of a resource only when its principal may read it at that moment, and on a stream whose request
 *     would still be taken.
 * N3  News is gathered for a moment and told once: a client learns that something changed, not how often.
 */
import type { ServedResource } from '@reprise/agent';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Address, JournalRecord } from '@reprise/contracts';
import type { WorldFrame } from '@reprise/kernel';
import { SERVE_NEWS_MS } from '../protocol/limits.js';
import { TOKENS } from '../pure/token-list.js';
import type { OfferedWorld, ServedWorld } from './served-world.js';
import { SESSIONS_URI, sessionUri } from './session-resources.js';

/** A client that is told of changes. */
interface Follower {
  readonly offer: OfferedWorld;
  /** Whether there is a stream on which the client can be told. */
  isOpen(): boolean;
  /** Ends the streams that may go on no longer. */
  check(): Promise<void>;
  /** Whether the client follows a resource; true where only the protocol's library knows. */
  follows(uri: string): boolean;
  toolsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
}

interface Gathered {
  readonly uris: Set<string>;
  /** What parts say of their own resources. */
  readonly changes: Promise<readonly string[]>[];
  readonly begun: Set<string>;
}

/** Tells clients which tools and resources change. */
export class News {
  /** Each follower, with the names of the tools that it was told of. */
  readonly #followers = new Map<Follower, string | undefined>();
  readonly #stop = new AbortController();
  #gathered: Gathered = { uris: new Set(), changes: [], begun: new Set() };
  #reading: Promise<void> | undefined;
  #told: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly served: ServedWorld,
    private readonly onError: (error: Error) => void,
    /** Called when tokens were taken back. */
    private readonly onRevoked: () => void = () => undefined,
  ) {}

  /** Begins to tell a client. @returns ends it */
  add(follower: Follower): () => void {
    this.#followers.set(follower, undefined);
    this.#reading ??= this.#read();
    if (this.#watchesTools) {
      // What it has now is what later lists differ from.
      void toolNames(follower).then((names) => {
        if (this.#followers.has(follower)) this.#followers.set(follower, names);
      }, this.onError);
    }
    return () => this.#followers.delete(follower);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#followers.clear();
    await this.#reading;
    await this.#told;
  }

  get #watchesTools(): boolean {
    return this.served.world.served.some(({ listed }) => listed !== undefined);
  }

  async #read(): Promise<void> {
    const { kernel } = this.served.world;
    try {
      for await (const frame of kernel.frames(kernel.head.seq + 1, this.#stop.signal)) this.#take(frame);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.onError(error as Error);
    }
  }

  #take(frame: WorldFrame): void {
    if (this.#followers.size === 0) return;
    const { uris, changes, begun } = this.#gathered;
    if (frame.records.some((record) => addressedTo(record)?.[0] === TOKENS)) this.onRevoked();
    for (const record of frame.records) {
      const session = sessionOf(record);
      if (session === undefined) continue;
      uris.add(sessionUri(session)).add(`${sessionUri(session)}/transcript`);
      if (isAdoption(record)) begun.add(session);
    }
    for (const { changed } of this.served.resources) changes.push(this.#changedUris(changed, frame));
    this.#timer ??= setTimeout(() => this.#flush(), SERVE_NEWS_MS);
  }

  /** The URIs that a part says a frame changes; none where it fails to say. */
  async #changedUris(changed: ServedResource['changed'], frame: WorldFrame): Promise<readonly string[]> {
    try {
      return (await changed?.(frame)) ?? [];
    } catch (error) {
      this.onError(error as Error);
      return [];
    }
  }

  #flush(): void {
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = { uris: new Set(), changes: [], begun: new Set() };
    const followers = [...this.#followers.keys()];
    this.#told = this.#told
      .then(async () => {
        for (const changed of await Promise.all(gathered.changes)) for (const uri of changed) gathered.uris.add(uri);
        for (const one of followers) if (this.#followers.has(one)) await this.#tell(one, gathered);
      })
      .catch(this.onError);
  }

  async #tell(follower: Follower, gathered: Gathered): Promise<void> {
    if (!follower.isOpen()) return;
    const notices = [...(await this.#aboutResources(follower, gathered)), ...(await this.#aboutTools(follower))];
    if (notices.length === 0) return;
    await follower.check();
    for (const notice of notices) notice();
  }

  async #aboutResources(follower: Follower, { uris, begun }: Gathered): Promise<readonly (() => void)[]> {
    const { offer } = follower;
    const notices: (() => void)[] = [];
    for (const session of begun) {
      if (!(await offer.mayRead(sessionUri(session)))) continue;
      notices.push(() => follower.resourcesChanged());
      if (follower.follows(SESSIONS_URI)) notices.push(() => follower.resourceUpdated(SESSIONS_URI));
      break;
    }
    for (const uri of uris)
      if (follower.follows(uri) && (await offer.mayRead(uri))) notices.push(() => follower.resourceUpdated(uri));
    return notices;
  }

  async #aboutTools(follower: Follower): Promise<readonly (() => void)[]> {
    if (!this.#watchesTools) return [];
    const names = await toolNames(follower);
    const before = this.#followers.get(follower);
    if (this.#followers.has(follower)) this.#followers.set(follower, names);
    return before !== undefined && before !== names ? [() => follower.toolsChanged()] : [];
  }
}

async function toolNames({ offer }: Follower): Promise<string> {
  return (await offer.tools()).map(({ name }) => name).join('\n');
}

/** The session to which a record brings something. */
function sessionOf(record: JournalRecord): string | undefined {
  const to = addressedTo(record);
  return to?.[0] === SESSION_REDUCER ? to[1] : undefined;
}

function addressedTo(record: JournalRecord): Address | undefined {
  if (record.kind === 'request' || record.kind === 'event') return record.to;
  return record.kind === 'timer' ? record.cell : undefined;
}

function isAdoption(record: JournalRecord): boolean {
  return (record.kind === 'request' || record.kind === 'event') && record.event.name === 'aos.agent/AgentAdopted@1';
}
