/**
 * The tools of a build, found by name and fingerprint: several may share a name, as long as each agent has only one of
 * them.
 */
import type { Tool } from '../tool/tool.js';

/** The details that select one of the tools with the same name. */
export interface WantedTool {
  /** The recorded fingerprint: it decides when a tool has it. */
  readonly fingerprint?: string;
  /**
   * The agent that calls: it decides between tools with equal fingerprints, and finds the current version of a changed
   * tool.
   */
  readonly agent?: string;
}

interface Placed {
  readonly tool: Tool;
  readonly agent: string | null;
}

/** The tools of a build. */
export class Shelf {
  readonly #byName = new Map<string, Placed[]>();

  /** Adds tools behind the earlier ones. Without an agent, any agent may use them. */
  put(tools: readonly Tool[], agent: string | null): void {
    for (const tool of tools) {
      const placed = this.#byName.get(tool.name) ?? [];
      placed.push({ tool, agent });
      this.#byName.set(tool.name, placed);
    }
  }

  /** All different tools with a name. */
  all(name: string): readonly Tool[] {
    return [...new Set((this.#byName.get(name) ?? []).map(({ tool }) => tool))];
  }

  /**
   * Finds the selected tool. After a deploy has changed a tool, its recorded fingerprint is not found: then it is the
   * agent's own tool with that name, or the only one.
   */
  find(name: string, { fingerprint, agent }: WantedTool): Tool | undefined {
    const placed = this.#byName.get(name) ?? [];
    const exact = placed.filter(({ tool }) => tool.entry.fingerprint === fingerprint);
    const own = (among: readonly Placed[]) => among.find((one) => agent !== undefined && one.agent === agent);
    const found = own(exact) ?? exact[0] ?? own(placed);
    if (found !== undefined) return found.tool;
    const [only, ...others] = this.all(name);
    return others.length === 0 ? only : undefined;
  }
}
