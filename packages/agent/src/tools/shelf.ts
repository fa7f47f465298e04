/** The tools of a build, found by name and fingerprint: several may have one name, as long as each agent has one of it. */
import type { Tool } from './tool.js';

/** Which of the tools of a name is meant. */
export interface WantedTool {
  /** As the definition records it: what decides, where a tool has it. */
  readonly fingerprint?: string;
  /** The agent that calls: decides between tools that look the same, and says whose tool a changed one is now. */
  readonly agent?: string;
}

interface Placed {
  readonly tool: Tool;
  readonly agent: string | null;
}

/** The tools of a build. */
export class Shelf {
  readonly #byName = new Map<string, Placed[]>();

  /** Puts tools there, behind those that are there already. Of no agent: those that any agent may take. */
  put(tools: readonly Tool[], agent: string | null): void {
    for (const tool of tools) {
      const placed = this.#byName.get(tool.name) ?? [];
      placed.push({ tool, agent });
      this.#byName.set(tool.name, placed);
    }
  }

  /** All different tools of a name. */
  all(name: string): readonly Tool[] {
    return [...new Set((this.#byName.get(name) ?? []).map(({ tool }) => tool))];
  }

  /**
   * The tool that is meant. One that a deploy has changed has another fingerprint than was recorded: then it is the
   * agent's own of that name, or the only one.
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
