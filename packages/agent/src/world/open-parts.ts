/** The parts of an open world: their adapters, their handles, and when they start and stop. */
import { type PolicyRule, type Ref, RepriseError } from '@reprise/contracts';
import type { AnyAdapter, ContentStore, KeptStream, OpenKernelWorldOptions, PendingItem } from '@reprise/kernel';
import { encode, equalBytes } from '@reprise/kernel/codec';
import type { ViewDefinition } from '@reprise/kernel/views';
import type { AnyAgent } from '../define/agent.js';
import type { Tool } from '../tools/tool/tool.js';
import { AGENT_POLICY } from './app.js';
import { allParts, type PartHost, rulesOf, type WorldPart } from './part.js';
import type { Registry } from './registry.js';
import type { AgentWorld } from './world.js';

/** Watches a world from when it is open. @returns what is called before it closes */
export type WorldObserver = (world: AgentWorld) => Promise<undefined | (() => Promise<void>)>;

/** The parts of a world that is being opened, and then is open. */
export class OpenParts {
  /** All parts, a used part before its user. */
  readonly all: readonly WorldPart[];
  readonly #handles = new Map<WorldPart, unknown>();
  readonly #stops: (() => Promise<void>)[] = [];

  /** @param observers what is started behind all parts, and stopped before them */
  constructor(
    given: readonly WorldPart[],
    private readonly observers: readonly WorldObserver[] = [],
  ) {
    this.all = allParts(given);
  }

  /** The agents that the parts bring. */
  agents(host: PartHost): readonly AnyAgent[] {
    return this.all.flatMap(({ agents = [] }) => (typeof agents === 'function' ? agents(host) : agents));
  }

  /** The agent that a part makes by a name. */
  async agentOf(name: string, host: PartHost): Promise<AnyAgent | undefined> {
    for (const part of this.all) {
      const agent = await part.agentOf?.(name, host);
      if (agent !== undefined) return agent;
    }
    return undefined;
  }

  /** The tools that definitions of an earlier process may list. */
  get tools(): readonly Tool[] {
    return this.all.flatMap(({ tools = [] }) => tools);
  }

  /** The views that the parts bring. */
  get views(): readonly ViewDefinition[] {
    return this.all.flatMap(({ views = [] }) => views);
  }

  /** The adapters of the parts. */
  adapters(host: PartHost): readonly AnyAdapter[] {
    return this.all.flatMap((part) => part.adapters?.(host) ?? []);
  }

  /**
   * The policy of a world with these parts: the rules of the app, then those of the parts, then those that agents need
   * when the app gave none. A world that is opened again without a policy keeps its own, with what is missing of the
   * parts' rules.
   */
  policy(given: OpenKernelWorldOptions['policy']): OpenKernelWorldOptions['policy'] {
    const rules = rulesOf(this.all);
    if (this.all.length === 0) return given;
    if (Array.isArray(given)) return [...(given as readonly PolicyRule[]), ...rules];
    return (now) => {
      const chosen = typeof given === 'function' ? given(now) : now;
      return chosen === undefined ? [...rules, ...AGENT_POLICY] : withRules(chosen, rules);
    };
  }

  /** The title of a pending item, in the words of the part whose cell it is of. */
  titleOf(item: PendingItem): string | undefined {
    for (const part of this.all) {
      const title = part.titleOf?.(item);
      if (title !== undefined) return title;
    }
    return undefined;
  }

  /** The handle of a part. @throws RepriseError `invalid_argument` for a part that the world was opened without */
  handle<H>(part: WorldPart<H>, world: AgentWorld): H {
    if (!this.all.includes(part)) {
      throw new RepriseError('invalid_argument', `the world was opened without the part "${String(part?.name)}"`, {
        expected: this.all.map(({ name }) => name).join(', ') || 'a part of `parts`, which is empty',
        hint: 'List the part under `parts` when opening the world, and pass the same object here.',
      });
    }
    if (!this.#handles.has(part)) this.#handles.set(part, part.handle(world));
    return this.#handles.get(part) as H;
  }

  /** Starts the parts, one after the other. When one fails, those before it are stopped. */
  async start(world: AgentWorld): Promise<void> {
    try {
      for (const start of [...this.all.map((part) => part.started?.bind(part)), ...this.observers]) {
        const stop = await start?.(world);
        if (stop !== undefined) this.#stops.push(stop);
      }
    } catch (error) {
      await this.stop().catch(() => undefined); // the first error is the one to tell
      throw error;
    }
  }

  /** Stops the parts, the last started first; each is stopped, and the first error thrown. */
  async stop(): Promise<void> {
    const errors: unknown[] = [];
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) {
      await stop().catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** What the adapters of parts may use, before the world is open as well as after. */
export function partHost(
  opened: Promise<AgentWorld>,
  {
    registry,
    parts,
    models,
    now,
  }: {
    readonly registry: Registry;
    readonly parts: OpenParts;
    readonly models: readonly string[];
    now(): number;
  },
): PartHost {
  const host: PartHost = {
    content: new HostContent(opened.then(({ kernel }) => kernel.content)),
    world: opened,
    now,
    adopt: async (agent) => (await opened).adopted(agent),
    agent: async (name) => registry.find(name) ?? parts.agentOf(name, host),
    tool: (name) => registry.tools(name)[0],
    models,
  };
  return host;
}

/** The policy with the rules that it lacks: before the rules that agents need where it ends with them, at its end otherwise. */
function withRules(policy: readonly PolicyRule[], rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const has = (rule: PolicyRule) => policy.some((known) => isSame(known, rule));
  const missing = rules.filter((rule) => !has(rule));
  if (missing.length === 0) return policy;
  const start = policy.length - AGENT_POLICY.length;
  const endsWithAgents = start >= 0 && AGENT_POLICY.every((rule, i) => isSame(policy[start + i] as PolicyRule, rule));
  const at = endsWithAgents ? start : policy.length;
  return [...policy.slice(0, at), ...missing, ...policy.slice(at)];
}

function isSame(a: PolicyRule, b: PolicyRule): boolean {
  return equalBytes(encode(a), encode(b));
}

/** The content of a world that may still be opening: until it is open, each call waits. */
class HostContent implements ContentStore {
  constructor(private readonly opened: Promise<ContentStore>) {}

  async get(ref: Ref): Promise<Uint8Array | undefined> {
    return (await this.opened).get(ref);
  }

  async has(ref: Ref): Promise<boolean> {
    return (await this.opened).has(ref);
  }

  async erasedBy(ref: Ref): Promise<number | undefined> {
    return (await this.opened).erasedBy(ref);
  }

  async erasedThrough(): Promise<number> {
    return (await this.opened).erasedThrough();
  }

  async *list(): AsyncGenerator<Ref> {
    yield* (await this.opened).list();
  }

  async put(bytes: Uint8Array): Promise<Ref> {
    return (await this.opened).put(bytes);
  }

  async putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    return (await this.opened).putStream(pieces);
  }
}
