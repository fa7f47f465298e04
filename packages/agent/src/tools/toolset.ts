/**
 * Toolsets: tools that somebody else offers and may change while a session runs. A toolset is opened once for each world
 * that uses it; what it offers is listed outside, recorded, and taken up by sessions as their definition says.
 */
import { RepriseError, type SessionInfo } from '@reprise/contracts';
import type { ContentStore, Scrubber } from '@reprise/kernel';
import type { ToolEntry } from '../contracts/agent-def.js';
import { DRIFT_POLICIES, type DriftPolicy, toolsetName } from '../contracts/toolset.js';
import type { Tool } from './tool.js';

/** A toolset, as an agent lists it. */
export interface Toolset {
  readonly type: 'toolset';
  /** Its tools are called `<name>__<tool>`. */
  readonly name: string;
  /** What becomes of a tool that is described otherwise than when the session took it up. */
  readonly onChanged: DriftPolicy;
  /** What becomes of a tool that was not there when the session began. */
  readonly onAdded: DriftPolicy;
  /** Opens it for a world: nothing is reached before it is needed. */
  open(host: ToolsetHost): LiveToolset;
}

/** The world that a toolset is opened for. */
export interface ToolsetHost {
  /** Aborted when the world closes: what the toolset started has to end then. */
  readonly closing: AbortSignal;
}

/** What a toolset is told when it is asked what it offers. */
export interface ListContext {
  readonly session: SessionInfo;
  readonly content: ContentStore;
  readonly signal: AbortSignal;
  secret(name: string): Promise<string>;
  /** The scrubber of the world: a toolset declares what it sends as a key. */
  readonly scrubber?: Scrubber;
}

/** A tool that a toolset has and cannot offer. */
export interface LeftOut {
  /** Its name where it comes from. */
  readonly tool: string;
  readonly why: string;
}

/** A toolset of an open world. */
export interface LiveToolset {
  /**
   * What it offers now. Contract: asks outside only when something has changed, or may have; answers with the same list
   * as before otherwise.
   *
   * @throws when it cannot be reached; the message says why
   */
  list(context: ListContext): Promise<readonly ToolEntry[]>;
  /** What it has and did not list when it was asked last, and why: for operators. Nothing when absent. */
  leftOut?(): readonly LeftOut[];
  /** The tool behind an entry that it listed, in this process or before; undefined when it is none of its kind. */
  tool(entry: ToolEntry): Tool | undefined;
}

/**
 * Refuses a toolset that no session could hold.
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

function require(holds: boolean, where: string, expected: string, actual: unknown): void {
  if (!holds) throw new RepriseError('invalid_definition', 'this is not a toolset', { where, expected, actual });
}
