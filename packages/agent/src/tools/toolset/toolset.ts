/**
 * Toolsets: tools that an outside service offers and may change while a session runs. A toolset is opened once for each
 * world that uses it; its offer is listed outside, recorded, and adopted by sessions as their definition states.
 */
import { type ArgumentCheck, checkOf, type SessionInfo } from '@reprise/contracts';
import type { ContentStore, Scrubber } from '@reprise/kernel';
import type { ToolEntry } from '../../contracts/agent-def.js';
import { DRIFT_POLICIES, type DriftPolicy, toolsetName } from '../../contracts/toolset.js';
import type { Tool } from '../tool/tool.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid toolset');

/** A toolset, as an agent lists it. */
export interface Toolset {
  readonly type: 'toolset';
  /** The toolset's name; its tools are named `<name>__<tool>`. */
  readonly name: string;
  /** The policy for a tool whose description has changed since the session took it up. */
  readonly onChanged: DriftPolicy;
  /** The policy for a tool that did not exist when the session began. */
  readonly onAdded: DriftPolicy;
  /**
   * Loads the code that the toolset needs and that not every program has installed. Awaited before a world opens, and
   * before it takes up an agent: a rejection refuses that.
   */
  load?(): Promise<void>;
  /** Opens the toolset for a world; it connects only when it is first used. */
  open(host: ToolsetHost): LiveToolset;
}

/** The facts about the world that a toolset is opened for. */
export interface ToolsetHost {
  /** Aborted when the world closes: the work that the toolset started has to end then. */
  readonly closing: AbortSignal;
}

/** The context of a request for a toolset's offer. */
export interface ListContext {
  readonly session: SessionInfo;
  readonly content: ContentStore;
  readonly signal: AbortSignal;
  secret(name: string): Promise<string>;
  /** The scrubber of the world: a toolset registers its own keys there. */
  readonly scrubber?: Scrubber;
  /** Reports what is odd about the toolset to operators. */
  report?(error: unknown): void;
}

/** A tool that a toolset has but cannot offer. */
export interface LeftOut {
  /** The tool's name at its origin. */
  readonly tool: string;
  readonly why: string;
}

/** A toolset of an open world. */
export interface LiveToolset {
  /**
   * Lists the current offer. Contract: sends a request only when the offer has changed or may have changed; otherwise
   * returns the same list as before.
   *
   * @throws when it cannot be reached; the message says why
   */
  list(context: ListContext): Promise<readonly ToolEntry[]>;
  /** The tools that the last list omitted, with the reasons, for operators. Empty when absent. */
  leftOut?(): readonly LeftOut[];
  /** Finds the tool of an entry that this or an earlier process listed; undefined when the toolset has no such tool. */
  tool(entry: ToolEntry): Tool | undefined;
}

/**
 * Refuses an invalid toolset.
 *
 * @throws RepriseError `invalid_definition`
 */
export function requireToolset({ name, onChanged, onAdded }: Omit<Toolset, 'open' | 'type'>, where: string): void {
  require(toolsetName.safeParse(name)
    .success, where, 'a name of at most 24 letters and digits, with single _ or - between them', name);
  for (const policy of [onChanged, onAdded]) {
    require(DRIFT_POLICIES.includes(policy), where, DRIFT_POLICIES.join(', '), policy);
  }
}
